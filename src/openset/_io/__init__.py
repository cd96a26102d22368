"""Everything untrusted comes in here: files are read without running code and written whole or not at all."""
