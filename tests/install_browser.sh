#!/bin/sh
# Installs Chromium for the tests that drive the pages in a browser, where this machine allows it:
# from the packages of Debian or Ubuntu, as root or with sudo that asks for no password.
# Elsewhere it says so and does no harm; the tests then skip, or fail where CI is set.

browser() {
    for name in chromium chromium-browser google-chrome; do
        command -v "$name" && return
    done
    return 1
}

give_up() {
    echo "==================================================================" >&2
    echo "No Chromium, so the tests of the pages cannot run: $1." >&2
    echo "Install a package called chromium, then run the tests again." >&2
    echo "==================================================================" >&2
    exit 0
}

browser >/dev/null && exit 0
command -v apt-get >/dev/null || give_up "there is no apt-get"
if [ "$(id -u)" = 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    give_up "installing it needs root"
fi
echo "Installing Chromium for the tests of the pages ..."
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq >/dev/null || give_up "apt-get update failed"
$as_root apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null ||
    give_up "apt-get install chromium failed"
browser >/dev/null || give_up "the package brought no program of that name"
