"""Files of predictions, matrices and search results, read with little memory and clear refusals."""
