"""Values of English slots: places, employers, institutions, numbers. A hospital overrides what is different there.

In a rule that begins with '@', '#' stands for a digit, '%' for one from 1 to 9 and '~' for a letter.
"""

from __future__ import annotations

from shared.generate.grammar import Rules, split_alternatives

VALUES: Rules = {
    "town_head": split_alternatives(
        """
        Alder | Amber | Ash | Bar | Bex | Black | Bram | Brook | Burn | Cal | Cedar | Chad | Clay | Cold |
        Cran | Crest | Dal | Dun | Eagle | East | Elm | Fair | Farn | Glen | Gran | Green | Hal | Harp | Hazel
        | Hill | Holl | Inver | Iron | Kel | Kings | Lake | Lang | Lin | Lock | Map | Marl | Mill | Mor | New
        | Nor | Oak | Old | Pen | Pine | Port | Quin | Rad | Red | Rock | Rose | Rush | Sal | Sandy | Silver |
        Spring | Stan | Stone | Sweet | Tar | Thorn | Up | Wake | Wal | West | Whit | Win | Wood | Wy | Yar
        """
    ),
    "town_tail": split_alternatives(
        """
        ton | ford | field | ville | burg | ham | wick | dale | mouth | port | wood | haven | bury | brook |
        bridge | ley | worth | stead | water | more | view | ridge | gate | mont
        """
    ),
    "@city": (
        (6, "{town_head}{town_tail}"),
        "{North|South|East|West|Lake|Mount|Port|Fort} {town_head}{town_tail}",
        "{town_head} {Falls|Creek|Springs|Bay|Hollow|Junction|Heights|Grove|Mills|Point}",
        "{San|Santa} {surname}",
        "{surname}{ville|ton|burg}",
    ),
    "@state": split_alternatives(
        """
        Ohio | Maine | Vermont | Oregon | Texas | Iowa | Nevada | Utah | Georgia | Florida | Kansas | Montana
        | Idaho | Virginia | North Carolina | South Dakota | New Mexico | Minnesota | Michigan | Wisconsin |
        Arizona | Alabama | California
        """
    ),
    "@country": split_alternatives(
        """
        Mexico | Vietnam | Poland | Italy | Haiti | Ghana | Nigeria | India | Pakistan | Brazil | Portugal |
        Ireland | Germany | Greece | Peru | Chile | Kenya | Somalia | Iraq | Turkey | Jamaica | Cuba | the
        Philippines | Ecuador | Ukraine | Korea | Japan | Spain | Canada | Thailand
        """
    ),
    "@zip": ("#####", (0.3, "#####-####")),
    "@street": (
        "<2-9999> {street_name}",
        (0.4, "<2-9999> {street_name}, {Apt|Unit|Suite} <1-40>{|B|C}"),
        (0.15, "PO Box <10-9999>"),
    ),
    "street_name": (
        "{street_word} {street_kind}",
        "{surname} {street_kind}",
        "{North|South|East|West|N|S|E|W} {street_word} {street_kind}",
        "<1-98>th {street_kind}",
    ),
    "street_kind": split_alternatives(
        """
        Street | Avenue | Road | Lane | Drive | Court | St | Ave | Rd | Ln | Dr | Blvd | Way | Terrace |
        Circle
        """
    ),
    "street_word": split_alternatives(
        """
        Maple | Chestnut | Harbor | Church | Mill | Sunset | Prospect | Locust | Main | Water | Orchard |
        Quarry | Meadow | Franklin | Juniper | Canal | School | Railroad | Ridge | Bay | Garden | Lantern |
        Copper | Heron | Willow
        """
    ),
    "@place": (
        "the {town_head}{town_tail} {Bridge|Reservoir|Mall|Ferry|Trail}",
        "{town_head} {Lake|Island|Beach|Canyon|Valley|Mountain}",
        "{surname} {Park|Farm|Stadium|Quarry|Library}",
        "the {surname} Building",
        "Route <2-98>",
        "Interstate <4-95>",
    ),
    "@hospital": (
        "{town_head}{town_tail} {hospital_kind}",
        "{surname} {hospital_kind}",
        "{Saint|St.} {saint} {hospital_kind}",
        "{hospital_head} {hospital_kind}",
    ),
    "hospital_kind": split_alternatives(
        """
        Hospital | Medical Center | General Hospital | Memorial Hospital | Clinic | Infirmary | Regional
        Medical Center | Health Center | Community Hospital
        """
    ),
    "hospital_head": split_alternatives(
        """
        Good Shepherd | Three Rivers | Blue Mesa | Four Winds | Lakeside | Northern Light | Mercy | Unity |
        Providence | Highland | Riverbend | Valley
        """
    ),
    "saint": split_alternatives(
        """
        Brendan | Clare | Monica | Jude | Agatha | Blaise | Raphael | Camillus | Odile | Vincent
        """
    ),
    "@center": (
        (
            "{town_head}{town_tail} {Family Practice|Health Centre|Dialysis Unit|Nursing Home|Rehab|Urgent Care|Day "
            "Clinic|Hospice}"
        ),
        "{surname} {House|Rehabilitation|Nursing Home|Dental Group}",
        "{hospital_head} {Rehab|Care Home|Assisted Living}",
    ),
    "@organization": (
        "{surname} {Logistics|Steel|Foods|Bakery|Motors|Plumbing|Insurance|Textiles|Shipping|Bank|Hardware}",
        "{surname} and Sons",
        "{surname}, {surname} and {surname}",
        (
            "{town_head}{town_tail} {High School|Elementary|Police Department|Fire Department|Library|Community "
            "College|Church|Farm Supply|Brewery|Paper Mill}"
        ),
        "{town_head} {Airlines|Energy|Dairy|Software|Lumber|Freight}",
        "the {town_head}{town_tail} Rotary Club",
        "University of {town_head}{town_tail}",
        "{hospital_head} Baptist Church",
    ),
    "@profession": split_alternatives(
        """
        teacher | school bus driver | carpenter | electrician | retired nurse | accountant | truck driver |
        farmer | waitress | lawyer | mechanic | plumber | librarian | welder | janitor | cashier | engineer |
        police officer | firefighter | bartender | hairdresser | secretary | bricklayer | chef | postal worker
        | bank teller | real estate agent | software developer | retired miner | fisherman | roofer |
        journalist | pharmacist | security guard | seamstress | piano tuner | dental hygienist | professor |
        factory worker | pilot | florist | translator | social worker | student | musician | butcher |
        landscaper | tailor | cab driver | baker | machinist | veterinarian | airline mechanic | court clerk |
        warehouse worker | day laborer | retired judge | dairy farmer | house painter | surveyor
        """
    ),
    "@profession_young": ("student", "pupil", "high school student", "babysitter"),
    "@username": ("{doctor_login}%", "{doctor_login}", "{doctor_ascii}.%#"),
    "@email": (
        "{first_ascii}.{last_ascii}{|%#}@{mail_host}",
        "{last_ascii}%#@{mail_host}",
        "{first_ascii}_{last_ascii}@{mail_host}",
        "{doctor_login}@{mail_host}",
    ),
    "mail_host": (
        "mailbox.example",
        "postbird.example",
        "quickmail.example",
        "homenet.example",
        "inbox.example.org",
        "letters.example.com",
    ),
    "@url": (
        "www.{host_word}{host_word}.example",
        "https://{host_word}-{host_word}.example/{host_word}",
        "{host_word}{host_word}.example.org",
        "http://portal.{host_word}.example/{patients|visit|my}",
    ),
    "host_word": split_alternatives(
        """
        heart | care | river | clinic | well | bridge | sun | portal | lake | health | mind | step | valley |
        notes
        """
    ),
    "@ip": ("10.<0-255>.<0-255>.<1-254>", "192.168.<0-255>.<1-254>", "172.16.<0-255>.<1-254>"),
    "@phone": ("(%##) %##-####", "%##-%##-####", (0.3, "%##-####")),
    "@fax": ("(%##) %##-####", "%##-%##-####"),
    "@ssn": ("%##-##-####",),
    "@mrn": ("%######",),
    "@healthplan": ("~~~%########", "%###-####-##~"),
    "@account": ("%#########", "A-%#######"),
    "@license": ("~%######", "MD%#####"),
    "@vehicle": ("~~~ %###", "%~~~ %##", "~~ ##-##~"),
    "@device": ("SN %######", "~~%###-%##", "%#####~"),
    "@bioid": ("FP-%####-~~", "RET%######", "VOX-####-####"),
    "@id": ("%##-####", "~%#######", "####-~~-##"),
    "@room": ("<2-9><01-48>", "<1-9>{A|B|C}-<10-40>"),
    "@department": ("{5|6|7|8} {North|South|East|West}", "Tower <2-9>", "Pod {A|B|C|D}", "Ward <2-14>{A|B|}"),
    "@other": (
        "the first woman mayor of the county",
        "winner of last year's marathon",
        "the only survivor of the ferry accident",
        "host of the local breakfast show",
        "the goalkeeper of the national team",
        "the twin of a well known senator",
    ),
}
