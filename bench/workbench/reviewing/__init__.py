"""What measures the review: a server, a page in a browser, an annotator who corrects, kills."""
