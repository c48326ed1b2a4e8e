"""The values of the options as attributes. Their types are in option_values.pyi, which make contract writes from the table of options."""


class OptionValues:
    """Has an attribute for each option."""

    _sources: dict[str, str]
