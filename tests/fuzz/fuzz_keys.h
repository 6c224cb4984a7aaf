/*
 * The public keys of the tokens in tests/fuzz/corpus/token, as a key set. tests/oauth/made.mjs has
 * made both; nobody has the private keys any more.
 */
#ifndef MISHAP_FUZZ_KEYS_H
#define MISHAP_FUZZ_KEYS_H

static const char fuzz_keys[] =
    "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"wPGTWbZhWr1r5oL4RBLa0yDgpEUQ8NepCW0bMTf2knfieXap"
    "sQwWMx-0mK-yCtu_88AYSA7dBRONfjfhFAb09qh-LSGeiJ5M2fXXSoFVKprrq-tqxB8R1ve1sI3TlFGpb-ib"
    "DxcAOSGVuvsXuDGTpRF1aEeziGFT2H1iJx7bX4Jl8LeYlIAeSM3iCnyNHtI_SbfjQmN3yH3YSNY1l0A8hy6Z"
    "dsI6b77iKL9SoWz0QiSBbpSCyOAXsr3g_TPK1bKEJisNINQMUtt71d0QSLS_WzWqVMmush2GRgE9bNuUuPD-"
    "MEpCX5WuDqLWHFDDZRCPe5CXaMaSlhPAiH7LYeMKHw\",\"e\":\"AQAB\",\"kid\":\"rs\"},{\"kty\""
    ":\"RSA\",\"n\":\"4Gj0omC7NdrACOaf8Rw7woZ_e850443wiwpWeLrCL8FMlpsl3ciDIWIga1LRrX_COc1"
    "JSVjc6XBYP8kMzAqxssfJCVR1WHbJzG3R7UTQhwc8c4Cd5TO7xQxCri4cPf-y7fpm-gjX4bOAHzoGPZYnla8"
    "QJriYk5yPI3KNeHBqPHcJqeHkc-e19vGYgZnTcuAxarIi6DTa1nbnIwYGMIyJ33mzT3mR0xKYoVC9OWtsahl"
    "sqvLk2E2P5hJ1J0tMnukErvjEGFhYLKY7KLKnLwhr4Wvur50dI43Hx8brdNgxtf3arAk6oPhH1haKjyRuHFp"
    "0MCV5h2QW94DtTeaKEVHPQ5tfmZhahDxB_owShjYBZr5M8yU4svhuDoSpvhskpsgsZVVdSPDOdPzRVRyjDHD"
    "rwL-uQm-f9uWk1CrqKjNJqXmOP7T0pquR8QeIsqyLQZ-evy0vbSemqIxAvmGE9EnT8PcahYYVQ0KYMhSWpmC"
    "nIlljyjHTWmBsO8LCxtvzKzmP\",\"e\":\"AQAB\",\"kid\":\"ps\",\"alg\":\"PS256\",\"use\":"
    "\"sig\"},{\"kty\":\"RSA\",\"n\":\"x-9E-4oZ66mTalszwZgp3HE1_yLEmvL-mayO5Fhe1iwsS-zkL4"
    "H6xsQ--JEMAivPvHEyx0X1ieMT2djmjO2MxCdfJdA9zFAqFz1Ucur9Ok9kUulqZlG6hJW5fLuSs1OFAv6e1s"
    "5GK0lOylmf641_c_X7SF57vNUDVlP9WyGnpw54OThuZQXgYCq8fOu6bNslRVPYhinJpQ0EPhjM6UBGaSPU2o"
    "XsWH-CDgiiPdu2t1JAbownLT-mAUX7_4cdNrVywSog4FK8rJRRO7hYSuoQX_S7WP5DQlbTL9RLdaH40barCn"
    "iSyrD_xWH-d56dmbgEUduGgbfI0w5jeDsxAmbFVKrLHtaOjRuw3oZDRK_eFpshGnxKTbv_E0Z7bEknKHatPo"
    "DYk1hvYby7z55erKc35EigwETnl8sm5URsqtVVtmVm2qDvGBRUWsBcTToMfXkl8I9S58ED3Fnmlr7EsX4vPs"
    "N7QDRN8StXLkWpUJQZmVywJSvO4TPfJ5RzJn4_n1yqyP04syJSZlJstWqGf4zzjBVK_NL3hxTebBjyYv6bS8"
    "H3YsicU2lEDU3Gvy53jji8mch7CNaN8n_X0S-_NsOKU4u0e8G2_wLxBsYoXA4AJlvtwmCENb8kDnP34xINMj"
    "gij5SNdxBW-5IdcNwI8mmuYBAUlEQrsYPUu423uZGZPdc\",\"e\":\"AQAB\",\"kid\":\"large\",\"a"
    "lg\":\"RS256\"},{\"kty\":\"EC\",\"x\":\"WcRXwLwwzNcBAWn4Y-kjf8vqWgItohh3PdkECt1_9jU\""
    ",\"y\":\"2RdnZB5QWBH6Ik99hp2T8cqL-gQTzgKAtEZAvyZ5TUU\",\"crv\":\"P-256\",\"kid\":\"e"
    "s\",\"key_ops\":[\"verify\"]},{\"kty\":\"EC\",\"x\":\"kiUlvQvdHGojtdb4UOv5DgPcOYvJBY"
    "EtzpXIo_Nc2eM125CWWbzFjggb4YANqUhE\",\"y\":\"Haqp9H-mcRfgJyI3ql7rias5qI3hn7dm_hTqmHh"
    "VrBL8TEfJJoUC0EwHtWxLb0sD\",\"crv\":\"P-384\",\"kid\":\"es3\",\"alg\":\"ES384\"},{\""
    "crv\":\"Ed25519\",\"x\":\"v2_wfD9Y8U-Jp0Sn_SBu70YrD9eN2BTbElH6V-SUcn8\",\"kty\":\"OK"
    "P\",\"kid\":\"ed\",\"alg\":\"EdDSA\"}]}";

#endif
