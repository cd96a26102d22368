"""Rows that do not fit into memory: counted part by part, on one machine or many, to the same bits as in memory."""
