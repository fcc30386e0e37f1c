"""The rule book: the notation, the chapters written in it, and the engines that decide them."""
