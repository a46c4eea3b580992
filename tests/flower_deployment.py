"""Flower on loopback: a SuperLink and a SuperNode a site, as processes, with TLS and authentication.

Its programs lie in an environment of their own, which ``make flower`` makes and names.
"""

import contextlib
import datetime as dt
import ipaddress
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pages import ROOT

VARIABLE = "CONFIDE_FLOWER"
READY = 120


def environment():
    """The folder of Flower's programs, or None."""
    named = os.environ.get(VARIABLE)
    place = (ROOT / named / "bin") if named else None
    return place if place is not None and (place / "flower-superlink").exists() else None


def free_port():
    """A port that nobody listens on."""
    with contextlib.closing(socket.socket()) as asked:
        asked.bind(("127.0.0.1", 0))
        return asked.getsockname()[1]


def pem(key):
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def write_certificates(folder):
    """An authority, and a certificate of this machine that it signed."""
    now, day = dt.datetime.now(dt.UTC), dt.timedelta(days=1)

    def certificate(name, key, *, issuer, by, authority):
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject if issuer is None else issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - day)
            .not_valid_after(now + day)
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .sign(by, hashes.SHA256())
        )

    above, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    root = certificate("authority", above, issuer=None, by=above, authority=True)
    leaf = certificate("localhost", key, issuer=root.subject, by=above, authority=False)
    for name, made in (("ca.pem", root), ("server.pem", leaf)):
        (folder / name).write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "server.key").write_bytes(pem(key))


def write_node_key(folder, name):
    """The key that a site's node shows, as Flower wants it: a NIST curve, in OpenSSH's form."""
    key = ec.generate_private_key(ec.SECP384R1())
    (folder / name).write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.OpenSSH,
            serialization.NoEncryption(),
        )
    )
    (folder / name).chmod(0o600)
    (folder / f"{name}.pub").write_bytes(
        key.public_key().public_bytes(
            serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
        )
        + b"\n"
    )


class Flower:
    """A SuperLink, a SuperNode a site, and the relays of all members.

    Args:
        folder: For keys, logs and Flower's own files; each member has its mailbox in it.
        names: Of the sites.
        federation: A federation.yaml.
    """

    def __init__(self, folder, *, names, federation):
        self.folder, self.names, self.federation = Path(folder), names, federation
        self.programs, self.running = environment(), {}
        self.folder.mkdir()
        self.mark = self.folder / "was-run"
        write_certificates(self.folder)
        self.port = free_port()
        self.boxes = {name: self.folder / f"box-{name}" for name in ("hub", *names)}
        for member, box in self.boxes.items():
            box.mkdir()
            (self.folder / f"secret-{member}").write_bytes(secrets.token_bytes(32))
        home = self.folder / "home"
        home.mkdir()
        (home / "config.toml").write_text(
            f'[superlink.hub]\naddress = "127.0.0.1:{self.port}"\n'
            f'root-certificates = "{self.folder / "ca.pem"}"\n'
        )
        path = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
        self.env = os.environ | {
            "FLWR_HOME": str(home),
            "FLWR_TELEMETRY_ENABLED": "0",
            "FLWR_DISABLE_UPDATE_CHECK": "1",
            "PATH": path,
            "PYTHONPATH": "",
            "XDG_STATE_HOME": str(self.folder / "state"),
        }

    def __enter__(self):
        try:
            self._begin()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_):
        self.end()

    def _begin(self):
        self.start(
            "superlink", "flower-superlink", "--host", "127.0.0.1", "--port", self.port,
            "--ssl-certfile", self.folder / "server.pem", "--ssl-keyfile", self.folder / "server.key",
            "--ssl-ca-certfile", self.folder / "ca.pem", "--enable-supernode-auth",
            "--disable-runtime-dependency-installation", "--isolation", "process",
            "--superexec-auth-secret-file", self.folder / "secret-hub",
        )  # fmt: skip
        self.listens(self.port)
        self.nodes = {name: free_port() for name in self.names}
        for name in self.names:
            write_node_key(self.folder, name)
            self.ran(
                "flwr", "supernode", "register", self.folder / f"{name}.pub", "hub", "--name", name
            )
        for name, port in self.nodes.items():
            self.start(
                f"node-{name}", "flower-supernode", "--superlink", f"127.0.0.1:{self.port}",
                "--root-certificates", self.folder / "ca.pem",
                "--auth-supernode-private-key", self.folder / name, "--host", "127.0.0.1",
                "--port", port, "--isolation", "process",
                "--superexec-auth-secret-file", self.folder / f"secret-{name}",
            )  # fmt: skip
        for name, port in self.nodes.items():
            self.listens(port)
            self.relay(name)
        self.start(
            "relay-hub", "confide", "federate", "flower", "hub", "--folder", self.boxes["hub"],
            "--runtime", f"127.0.0.1:{self.port}", "--secret", self.folder / "secret-hub",
            "--root-certificate", self.folder / "ca.pem", "--federation", self.federation,
            "--seconds", "600",
        )  # fmt: skip
        self.ran("confide", "federate", "flower", "app", "--out", self.folder / "app")
        other = self.folder / "other"
        shutil.copytree(self.folder / "app", other)
        apps = other / "confide_relay" / "apps.py"
        apps.write_text(f"{apps.read_text()}\nopen({str(self.mark)!r}, 'w')\n")
        for app in (other, self.folder / "app"):
            self.ran("flwr", "run", app, "hub")

    def relay(self, name):
        """Start a site's relay."""
        self.start(
            f"relay-{name}", "confide", "federate", "flower", "site", "--name", name,
            "--folder", self.boxes[name], "--runtime", f"127.0.0.1:{self.nodes[name]}",
            "--secret", self.folder / f"secret-{name}", "--federation", self.federation,
            "--seconds", "600",
        )  # fmt: skip

    def start(self, called, program, *words):
        """Start a program of Flower's environment; what it says goes to a file."""
        with (self.folder / f"{called}.log").open("ab") as log:
            self.running[called] = subprocess.Popen(
                [self.programs / program, *map(str, words)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.env,
                start_new_session=True,
            )

    def ran(self, program, *words):
        """Run a program of Flower's environment to its end."""
        done = subprocess.run(
            [self.programs / program, *map(str, words)],
            capture_output=True,
            text=True,
            timeout=READY,
            env=self.env,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr + self.said("superlink")
        return done.stdout

    def listens(self, port):
        """Wait until somebody listens."""
        end = time.monotonic() + READY
        while time.monotonic() < end:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return
            time.sleep(0.2)
        raise AssertionError(f"nobody listens on {port}: {self.said(*self.running)}")

    def said(self, *called):
        """What programs wrote, the end of it."""
        texts = ((self.folder / f"{each}.log").read_text(errors="replace") for each in called)
        return "\n".join(f"--- {n}\n{text[-3000:]}" for n, text in zip(called, texts, strict=True))

    def kill(self, *called):
        """End programs as a machine that loses power does."""
        for each in called:
            self.running[each].kill()
            self.running[each].wait(timeout=30)

    def end(self):
        """End everything that was started."""
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(timeout=15)


def confide(*words):
    """Start Confide's command in the environment of the tests."""
    command = [sys.executable, "-m", "confide", *map(str, words)]
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
