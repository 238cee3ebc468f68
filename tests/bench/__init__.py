"""Speed, beside a peer in the same run: `make bench`. Nothing here is asserted by the tests."""
