"""A stock command with click; with SHOP_MISHAP it has the two lines of the adapter."""
import os

import click


@click.group()
def tool():
    pass


@tool.command()
@click.argument("number", type=int)
@click.option("--color", type=click.Choice(["red", "blue"]))
@click.pass_context
def show(context, number, color):
    if number == 1:
        raise RuntimeError("could not connect to postgres://shop:hunter22@db7:5432/orders")
    if number == 2:
        from mishap import Mishap
        raise Mishap("NOT_FOUND", "There is no order 2.", context={"order": 2})
    if number == 3:
        context.exit(9)
    if number == 4:
        raise click.ClickException("the shop is closed")
    click.echo(f"order {number}")
    return 5


if os.environ.get("SHOP_MISHAP") == "1":
    import mishap.click
    mishap.click.install(tool)
tool()
