"""What the categories of label schemes are about, so that each finds who makes its surrogates.

A category that stands nowhere has no surrogate: its spans are redacted.
"""

from __future__ import annotations

from collections.abc import Mapping

KINDS = (
    "person",
    "kin",
    "date",
    "age",
    "place",
    "region",
    "country",
    "street",
    "phone",
    "identifier",
    "email",
    "url",
    "address",
    "profession",
    "institution",
    "department",
)

_OF_CATEGORIES = {
    "person": "PATIENT DOCTOR NAME PERSON NOMBRE_SUJETO_ASISTENCIA NOMBRE_PERSONAL_SANITARIO",
    "kin": "FAMILIARES_SUJETO_ASISTENCIA",
    "date": "DATE FECHAS",
    "age": "AGE EDAD_SUJETO_ASISTENCIA",
    "place": "CITY LOCATION LOCATION-OTHER GEOGRAPHIC TERRITORIO",
    "region": "STATE",
    "country": "COUNTRY PAIS",
    "street": "STREET CALLE",
    "phone": "PHONE FAX NUMERO_TELEFONO NUMERO_FAX",
    "identifier": (
        "ID IDNUM SSN MEDICALRECORD MEDICAL_RECORD HEALTHPLAN HEALTH_PLAN ACCOUNT LICENSE VEHICLE DEVICE BIOID BIOMETRIC ZIP ROOM USERNAME "
        "OTHER_IDENTIFIER ID_SUJETO_ASISTENCIA ID_TITULACION_PERSONAL_SANITARIO ID_ASEGURAMIENTO ID_CONTACTO_ASISTENCIAL "
        "ID_EMPLEO_PERSONAL_SANITARIO IDENTIF_VEHICULOS_NRSERIE_PLACAS IDENTIF_DISPOSITIVOS_NRSERIE NUMERO_BENEF_PLAN_SALUD IDENTF_BIOMETRICOS "
        "OTRO_NUMERO_IDENTIF"
    ),
    "email": "EMAIL CORREO_ELECTRONICO",
    "url": "URL URL_WEB",
    "address": "IPADDR IP_ADDRESS DIREC_PROT_INTERNET",
    "profession": "PROFESSION PROFESION",
    "institution": "HOSPITAL ORGANIZATION INSTITUCION CENTRO_SALUD",
    "department": "DEPARTMENT",
}
_KIND_OF = {category: kind for kind, categories in _OF_CATEGORIES.items() for category in categories.split()}


def kind_of(category: str, stated: Mapping[str, str]) -> str:
    """The kind of a category, "" where nobody makes surrogates of it.

    Args:
        category: of a span.
        stated: kinds that a hospital gives to categories.
    """
    return stated.get(category, _KIND_OF.get(category, ""))
