"""Which slot of a template carries which PHI category, per language.

English follows the i2b2 2014 types, Spanish MEDDOCAN's: there the patient's sex and words of kinship are PHI too.
"""

from __future__ import annotations

PERSON_SLOTS = frozenset({"patient", "doctor", "relative"})
DATE_SLOTS = frozenset({"admit", "discharge", "birth", "past", "recent", "next", "stay", "old"})

_ENGLISH = {
    "patient": "PATIENT",
    "relative": "PATIENT",
    "doctor": "DOCTOR",
    "username": "USERNAME",
    "profession": "PROFESSION",
    "hospital": "HOSPITAL",
    "center": "HOSPITAL",
    "organization": "ORGANIZATION",
    "street": "STREET",
    "city": "CITY",
    "state": "STATE",
    "country": "COUNTRY",
    "zip": "ZIP",
    "place": "LOCATION-OTHER",
    "department": "DEPARTMENT",
    "room": "ROOM",
    "age": "AGE",
    "kinage": "AGE",
    "phone": "PHONE",
    "fax": "FAX",
    "email": "EMAIL",
    "url": "URL",
    "ip": "IPADDR",
    "ssn": "SSN",
    "mrn": "MEDICALRECORD",
    "healthplan": "HEALTHPLAN",
    "account": "ACCOUNT",
    "license": "LICENSE",
    "vehicle": "VEHICLE",
    "device": "DEVICE",
    "bioid": "BIOID",
    "id": "IDNUM",
    "other": "OTHER",
    **dict.fromkeys(DATE_SLOTS, "DATE"),
}

_SPANISH = {
    "patient": "NOMBRE_SUJETO_ASISTENCIA",
    "relative": "FAMILIARES_SUJETO_ASISTENCIA",
    "kin": "FAMILIARES_SUJETO_ASISTENCIA",
    "kins": "FAMILIARES_SUJETO_ASISTENCIA",
    "doctor": "NOMBRE_PERSONAL_SANITARIO",
    "username": "ID_EMPLEO_PERSONAL_SANITARIO",
    "profession": "PROFESION",
    "hospital": "HOSPITAL",
    "center": "CENTRO_SALUD",
    "organization": "INSTITUCION",
    "street": "CALLE",
    "city": "TERRITORIO",
    "state": "TERRITORIO",
    "zip": "TERRITORIO",
    "country": "PAIS",
    "age": "EDAD_SUJETO_ASISTENCIA",
    "sex": "SEXO_SUJETO_ASISTENCIA",
    "phone": "NUMERO_TELEFONO",
    "fax": "NUMERO_FAX",
    "email": "CORREO_ELECTRONICO",
    "url": "URL_WEB",
    "ip": "DIREC_PROT_INTERNET",
    "ssn": "ID_ASEGURAMIENTO",
    "mrn": "ID_SUJETO_ASISTENCIA",
    "healthplan": "NUMERO_BENEF_PLAN_SALUD",
    "episode": "ID_CONTACTO_ASISTENCIAL",
    "license": "ID_TITULACION_PERSONAL_SANITARIO",
    "vehicle": "IDENTIF_VEHICULOS_NRSERIE_PLACAS",
    "device": "IDENTIF_DISPOSITIVOS_NRSERIE",
    "bioid": "IDENTF_BIOMETRICOS",
    "id": "OTRO_NUMERO_IDENTIF",
    "other": "OTROS_SUJETO_ASISTENCIA",
    **dict.fromkeys(DATE_SLOTS, "FECHAS"),
}

CATEGORIES = {"en": _ENGLISH, "es": _SPANISH}

# Spans that are written as a name is: their case and their spelling vary.
NAME_CATEGORIES = frozenset(
    {"PATIENT", "DOCTOR", "NOMBRE_SUJETO_ASISTENCIA", "NOMBRE_PERSONAL_SANITARIO", "FAMILIARES_SUJETO_ASISTENCIA"}
)
