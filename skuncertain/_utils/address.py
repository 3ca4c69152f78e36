"""Where the web page listens unless told otherwise; read by the program's help without numpy."""

USUAL_HOST = "127.0.0.1"  # cannot be reached from other computers
LOOPBACK = (USUAL_HOST, "localhost", "[::1]")  # names of this computer
USUAL_PORT = 8377  # a fixed one, so that links survive the end of the program
