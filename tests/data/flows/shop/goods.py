"""What the shop begins with: two countries, six books of two categories, a customer and an administrator."""

from decimal import Decimal

from django.contrib.auth.models import User
from oscar.apps.address.models import Country
from oscar.apps.catalogue.categories import create_from_breadcrumbs
from oscar.apps.catalogue.models import Product, ProductCategory, ProductClass
from oscar.apps.partner.models import Partner, StockRecord

BOOKS = {
    "Fiction": {"The Sea Wall": "12.50", "A Winter in Ghent": "9.99", "The Long Field": "14.00"},
    "Cooking": {"Bread Without Haste": "21.00", "Soups of the North": "17.25", "The Small Kitchen": "11.75"},
}


def create() -> None:
    """Write everything into the shop's database."""
    for code, name in (("GB", "United Kingdom"), ("FR", "France")):
        Country.objects.create(
            iso_3166_1_a2=code, iso_3166_1_a3=code, printable_name=name, name=name, is_shipping_country=True
        )
    kind = ProductClass.objects.create(name="Book")
    partner = Partner.objects.create(name="Warehouse")
    for category, books in BOOKS.items():
        node = create_from_breadcrumbs(category)
        for title, price in books.items():
            book = Product.objects.create(title=title, product_class=kind, description=f"{title}, a book.")
            ProductCategory.objects.create(product=book, category=node)
            StockRecord.objects.create(
                product=book, partner=partner, partner_sku=title.upper().replace(" ", "-"),
                price=Decimal(price), price_currency="GBP", num_in_stock=40,
            )  # fmt: skip
    User.objects.create_user("ada", "ada@example.com", "correct horse")
    User.objects.create_superuser("root", "root@example.com", "correct horse")


create()
