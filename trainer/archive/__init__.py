"""ZIP archives from untrusted sources: ``zips`` reads them safely, ``budget`` limits what one run may unpack."""
