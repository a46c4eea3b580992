PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE counter (
    lineage TEXT NOT NULL,
    scope   TEXT NOT NULL,           -- lifetime, lifetime-delta, calendar-year/2027
    spent   INTEGER NOT NULL CHECK (spent >= 0),
    cap     INTEGER CHECK (cap >= 0),
    PRIMARY KEY (lineage, scope),
    CHECK (cap IS NULL OR spent <= cap)
) STRICT;
INSERT INTO "counter" VALUES('north-ehr','calendar-year/2027',200000000,200000000);
INSERT INTO "counter" VALUES('north-ehr','lifetime',450000000,2000000000);
INSERT INTO "counter" VALUES('north-ehr','lifetime-delta',100000000000,1000000000000);
INSERT INTO "counter" VALUES('north-ehr','calendar-year/2028',250000000,1000000000);
INSERT INTO "counter" VALUES('south-ehr','calendar-year/2028',100000000,NULL);
INSERT INTO "counter" VALUES('south-ehr','lifetime',100000000,4000000000);
INSERT INTO "counter" VALUES('south-ehr','lifetime-delta',0,1000000000000);
CREATE TABLE event (
    number   INTEGER PRIMARY KEY CHECK (number > 0),
    body     TEXT NOT NULL,          -- canonical JSON (RFC 8785)
    previous TEXT NOT NULL,
    hash     TEXT NOT NULL UNIQUE    -- SHA-256(previous || body)
) STRICT;
INSERT INTO "event" VALUES(1,'{"adjacency":"add-remove","at":"2027-06-01T12:00:00.000000Z","caps":{"calendar-year":"1000000000","lifetime":"3000000000","lifetime-delta":"1000000000000","release":"500000000"},"kind":"registered","lineage":"north-ehr","measure":"pure","number":"1","unit":"patient","year":"2027"}','0000000000000000000000000000000000000000000000000000000000000000','faaa26836821f394813886474c74ef67aeb0e08a6e2caf85b6a30a0b34977f33');
INSERT INTO "event" VALUES(2,'{"adjacency":"add-remove","at":"2027-06-01T12:00:00.000000Z","caps":{"calendar-year":"1000000000","lifetime":"4000000000","lifetime-delta":"1000000000000","release":"500000000"},"kind":"registered","lineage":"north-ehr","measure":"pure","number":"2","unit":"patient","year":"2027"}','faaa26836821f394813886474c74ef67aeb0e08a6e2caf85b6a30a0b34977f33','f37a52d51c99b6b573353856f1de2fb0d8a8f30ee31989287305a0741aae9f45');
INSERT INTO "event" VALUES(3,'{"analyst":"ada","at":"2027-06-01T12:00:00.000000Z","charges":[{"after":"100000000","amount":"100000000","before":"0","cap":"500000000","scope":"release"},{"after":"100000000","amount":"100000000","before":"0","cap":"1000000000","scope":"calendar-year/2027"},{"after":"100000000","amount":"100000000","before":"0","cap":"4000000000","scope":"lifetime"}],"delta-atto":"0","events":"100000000/0","kind":"reserved","lineage":"north-ehr","nano":"100000000","number":"3","owner":"44eded3bc4e842caab5e94ce61306630","plan":"{\"statistic\":\"count\"}","plan-digest":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","request-key":"a","year":"2027"}','f37a52d51c99b6b573353856f1de2fb0d8a8f30ee31989287305a0741aae9f45','0ea469cf6ba7b889dcfbd407ce2dc67db2c1ea73e29e76445e4a4142ec66665d');
INSERT INTO "event" VALUES(4,'{"at":"2027-06-01T12:00:00.000000Z","entry":"3","kind":"reading","lineage":"north-ehr","number":"4"}','0ea469cf6ba7b889dcfbd407ce2dc67db2c1ea73e29e76445e4a4142ec66665d','e9b12f8c2610eef72783a4a1badb7edb1258f75485ee2947521328f623273a02');
INSERT INTO "event" VALUES(5,'{"at":"2027-06-01T12:00:00.000000Z","entry":"3","kind":"committed","lineage":"north-ehr","number":"5","sha256":"0db52f4076c082518412afd3dd3576e2cb0c63703fd7fed5e23ade60efef31d9"}','e9b12f8c2610eef72783a4a1badb7edb1258f75485ee2947521328f623273a02','e51c499f78e3c383535351048e0799674fe3f0a5b8e73f86a4c67954a19727d0');
INSERT INTO "event" VALUES(6,'{"at":"2027-06-01T12:00:00.000000Z","entry":"3","kind":"published","lineage":"north-ehr","number":"6"}','e51c499f78e3c383535351048e0799674fe3f0a5b8e73f86a4c67954a19727d0','71d2d4c4a16dede75fd769135beba5295c09d83df25f4138e3b802a1e4ab7045');
INSERT INTO "event" VALUES(7,'{"analyst":"ada","at":"2027-06-01T12:00:00.000000Z","charges":[{"after":"100000000","amount":"100000000","before":"0","cap":"500000000","scope":"release"},{"after":"200000000","amount":"100000000","before":"100000000","cap":"1000000000","scope":"calendar-year/2027"},{"after":"200000000","amount":"100000000","before":"100000000","cap":"4000000000","scope":"lifetime"}],"delta-atto":"0","events":"100000000/0","kind":"reserved","lineage":"north-ehr","nano":"100000000","number":"7","owner":"44eded3bc4e842caab5e94ce61306630","plan":"{\"statistic\":\"count\"}","plan-digest":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","request-key":"b","year":"2027"}','71d2d4c4a16dede75fd769135beba5295c09d83df25f4138e3b802a1e4ab7045','fc90a71ddd36a2437d80c00c90d22b3a3e63af601ef4f30e886d505c60fe38cd');
INSERT INTO "event" VALUES(8,'{"at":"2027-06-01T12:00:00.000000Z","entry":"7","kind":"cancelled","lineage":"north-ehr","number":"8","reason":"cancelled by its owner"}','fc90a71ddd36a2437d80c00c90d22b3a3e63af601ef4f30e886d505c60fe38cd','40d8d914b7510b3fbf0655e79acee4bb079169cc29bc98040bf277bf98caa1fa');
INSERT INTO "event" VALUES(9,'{"analyst":"ada","at":"2027-06-01T12:00:00.000000Z","charges":[],"delta-atto":"0","events":"1000000000/0","kind":"refused","lineage":"north-ehr","nano":"1000000000","number":"9","owner":"44eded3bc4e842caab5e94ce61306630","plan":"{\"statistic\":\"count\"}","plan-digest":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","request-key":"c","year":"2027"}','40d8d914b7510b3fbf0655e79acee4bb079169cc29bc98040bf277bf98caa1fa','d5540a0c1ba68d698487b55991d8b3b7d52ccbd7df28c434ee690fad69488329');
INSERT INTO "event" VALUES(10,'{"analyst":"ada","at":"2027-06-01T12:00:00.000000Z","charges":[{"after":"100000000","amount":"100000000","before":"0","cap":"500000000","scope":"release"},{"after":"200000000","amount":"100000000","before":"100000000","cap":"1000000000","scope":"calendar-year/2027"},{"after":"200000000","amount":"100000000","before":"100000000","cap":"4000000000","scope":"lifetime"},{"after":"100000000000","amount":"100000000000","before":"0","cap":"1000000000000","scope":"lifetime-delta"}],"delta-atto":"100000000000","events":"100000000/100000000000","kind":"reserved","lineage":"north-ehr","nano":"100000000","number":"10","owner":"44eded3bc4e842caab5e94ce61306630","plan":"{\"statistic\":\"count\"}","plan-digest":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","request-key":"d","year":"2027"}','d5540a0c1ba68d698487b55991d8b3b7d52ccbd7df28c434ee690fad69488329','0865de96ededde4fcfe67d1e9b8b6894cfba03292b032e0469fffcc9426ff1ea');
INSERT INTO "event" VALUES(11,'{"at":"2027-06-01T12:00:00.000000Z","entry":"10","kind":"reading","lineage":"north-ehr","number":"11"}','0865de96ededde4fcfe67d1e9b8b6894cfba03292b032e0469fffcc9426ff1ea','f5a25559e46564302031fd53f39da3c5cb5e7af6cd9e8d98707a0da4ba1d4df6');
INSERT INTO "event" VALUES(12,'{"at":"2027-06-01T12:00:00.000000Z","entry":"10","incident":"i","kind":"burned","lineage":"north-ehr","number":"12"}','f5a25559e46564302031fd53f39da3c5cb5e7af6cd9e8d98707a0da4ba1d4df6','accb4462430608771ac33ff87b9130467dfd9f14fd93be5aa39fbfdba57e5953');
INSERT INTO "event" VALUES(13,'{"at":"2027-06-01T12:00:00.000000Z","caps":{"calendar-year":"100000000","lifetime":"2000000000","lifetime-delta":"1000000000000","release":null},"kind":"caps-amended","lineage":"north-ehr","number":"13","reason":"board"}','accb4462430608771ac33ff87b9130467dfd9f14fd93be5aa39fbfdba57e5953','255d241bbea4e7eaff92399ff6d5899c64dc72712bd259cf0797cff078566913');
INSERT INTO "event" VALUES(14,'{"at":"2028-03-27T12:00:00.000000Z","kind":"year-opened","lineage":"north-ehr","number":"14","reason":"new year","year":"2028"}','255d241bbea4e7eaff92399ff6d5899c64dc72712bd259cf0797cff078566913','19ee77b38f9655e92bb6179c3d07341dd877341639abdba65ab17966cff6a6e0');
INSERT INTO "event" VALUES(15,'{"analyst":"ada","at":"2028-03-27T12:00:00.000000Z","charges":[{"after":"50000000","amount":"50000000","before":"0","cap":"100000000","scope":"calendar-year/2028"},{"after":"250000000","amount":"50000000","before":"200000000","cap":"2000000000","scope":"lifetime"}],"delta-atto":"0","events":"50000000/0","kind":"reserved","lineage":"north-ehr","nano":"50000000","number":"15","owner":"44eded3bc4e842caab5e94ce61306630","plan":"{\"statistic\":\"count\"}","plan-digest":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","request-key":"e","year":"2028"}','19ee77b38f9655e92bb6179c3d07341dd877341639abdba65ab17966cff6a6e0','6ed65217717a5990f6d2707c3fc79021edc6c7c78348b350c0a953d37abde2b6');
INSERT INTO "event" VALUES(16,'{"at":"2028-03-27T12:00:00.000000Z","entry":"15","kind":"reading","lineage":"north-ehr","number":"16"}','6ed65217717a5990f6d2707c3fc79021edc6c7c78348b350c0a953d37abde2b6','f414a203e2369ea7268c6a3bf0a499e25bb6c3ada723ff037f72788da4e7671f');
INSERT INTO "event" VALUES(17,'{"at":"2028-03-27T12:00:00.000000Z","entry":"15","kind":"committed","lineage":"north-ehr","number":"17","sha256":"3547cb112ac4489af2310c0626cdba6f3097a2ad5a3b42ddd3b59c76c7a079a3"}','f414a203e2369ea7268c6a3bf0a499e25bb6c3ada723ff037f72788da4e7671f','5891040f56e9ac131b99e6d9f659c24c0237236c93a929adf47b7a2e242e4b9e');
INSERT INTO "event" VALUES(18,'{"at":"2028-03-27T12:00:00.000000Z","entry":"15","kind":"published","lineage":"north-ehr","number":"18"}','5891040f56e9ac131b99e6d9f659c24c0237236c93a929adf47b7a2e242e4b9e','f6beee7ac223fc0b7b9493e36d35d0dcc96e40cb10ff600df93ea623bde83604');
INSERT INTO "event" VALUES(19,'{"adjacency":"add-remove","at":"2028-03-27T12:00:00.000000Z","caps":{"calendar-year":null,"lifetime":"4000000000","lifetime-delta":"1000000000000","release":"500000000"},"kind":"registered","lineage":"south-ehr","measure":"pure","number":"19","unit":"patient","year":"2028"}','f6beee7ac223fc0b7b9493e36d35d0dcc96e40cb10ff600df93ea623bde83604','b55cda585cf62d61c85d621418d4e010479b368facc195777de62e06ea8317c0');
INSERT INTO "event" VALUES(20,'{"analyst":"ada","at":"2028-03-27T12:00:00.000000Z","charges":[{"after":"100000000","amount":"100000000","before":"0","cap":"500000000","scope":"release"},{"after":"100000000","amount":"100000000","before":"0","cap":"4000000000","scope":"lifetime"}],"delta-atto":"0","events":"100000000/0","kind":"reserved","lineage":"south-ehr","nano":"100000000","number":"20","owner":"44eded3bc4e842caab5e94ce61306630","plan":"{\"statistic\":\"count\"}","plan-digest":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","request-key":"g","step":{"continues":"","question":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","start":"0","stop":"2"},"year":"2028"}','b55cda585cf62d61c85d621418d4e010479b368facc195777de62e06ea8317c0','bad65e0e86a74690e9425e7132e58ca0987b5b6966abc1e66d74a1c298b419d3');
INSERT INTO "event" VALUES(21,'{"at":"2028-03-27T12:00:00.000000Z","entry":"20","kind":"reading","lineage":"south-ehr","number":"21"}','bad65e0e86a74690e9425e7132e58ca0987b5b6966abc1e66d74a1c298b419d3','0da43e28b3772493a55dd150ad76648af9ba7c581f3d7b3aef9ff940cea6bd99');
INSERT INTO "event" VALUES(22,'{"at":"2028-03-27T12:00:00.000000Z","entry":"20","kind":"committed","lineage":"south-ehr","number":"22","sha256":"599c4643aacf6ea004f1705b82886c50f55bb88970dbb7a0bbb7dad40777a628"}','0da43e28b3772493a55dd150ad76648af9ba7c581f3d7b3aef9ff940cea6bd99','ae3796af21bfc3b0e2cd58927534329789fa83e2f281898c408315f4c2d03431');
INSERT INTO "event" VALUES(23,'{"at":"2028-03-27T12:00:00.000000Z","entry":"20","kind":"published","lineage":"south-ehr","number":"23"}','ae3796af21bfc3b0e2cd58927534329789fa83e2f281898c408315f4c2d03431','2bf42d1852fb4a633aa91ab6c67b6b727800de4e006f7e09a1b28f875b836974');
INSERT INTO "event" VALUES(24,'{"at":"2028-03-27T12:00:00.000000Z","caps":{"calendar-year":"1000000000","lifetime":"2000000000","lifetime-delta":"1000000000000","release":null},"kind":"caps-amended","lineage":"north-ehr","number":"24","reason":"board"}','2bf42d1852fb4a633aa91ab6c67b6b727800de4e006f7e09a1b28f875b836974','e8a11b558fa66567a454f88bdaa29405aa8cba01585d8a2d04595a9a52872c91');
INSERT INTO "event" VALUES(25,'{"at":"2028-03-27T12:00:00.000000Z","findings":["The anchor is ahead of the ledger: an older copy of the ledger was put back."],"kind":"unfrozen","number":"25","raised":{"north-ehr":{"calendar-year/2027":"200000000","calendar-year/2028":"150000000","lifetime":"350000000","lifetime-delta":"100000000000"}},"reason":"restored"}','e8a11b558fa66567a454f88bdaa29405aa8cba01585d8a2d04595a9a52872c91','49e2dfed81f90f4c0c6eba1ea1aa72c5430f3aeb3fa5f6f14105492e9cf88fbb');
INSERT INTO "event" VALUES(26,'{"analyst":"ada","at":"2028-03-27T12:00:00.000000Z","charges":[{"after":"250000000","amount":"100000000","before":"150000000","cap":"1000000000","scope":"calendar-year/2028"},{"after":"450000000","amount":"100000000","before":"350000000","cap":"2000000000","scope":"lifetime"}],"delta-atto":"0","events":"100000000/0","kind":"reserved","lineage":"north-ehr","nano":"100000000","number":"26","owner":"05a59952b7d3456d8d5370e8fe1bb7e2","plan":"{\"statistic\":\"count\"}","plan-digest":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","request-key":"after","year":"2028"}','49e2dfed81f90f4c0c6eba1ea1aa72c5430f3aeb3fa5f6f14105492e9cf88fbb','608f3c3e8d9cdb3aa6ed573fde4e0823b12b0b5880bdcae985a52a541558a643');
INSERT INTO "event" VALUES(27,'{"at":"2028-03-27T12:00:00.000000Z","entry":"26","kind":"reading","lineage":"north-ehr","number":"27"}','608f3c3e8d9cdb3aa6ed573fde4e0823b12b0b5880bdcae985a52a541558a643','f7aa845c6a25d34b0e6f3f2fe1efebd5e6d85057edff17066178028346fe1b80');
INSERT INTO "event" VALUES(28,'{"at":"2028-03-27T12:00:00.000000Z","entry":"26","kind":"committed","lineage":"north-ehr","number":"28","sha256":"f39592393ef0859cb196a52693d2cea00fb2df784b3c04ae54aa7cadb8e562f8"}','f7aa845c6a25d34b0e6f3f2fe1efebd5e6d85057edff17066178028346fe1b80','e962d5565bba576d2a725c335968dab80bdec77abd9f49066e58614d969d3279');
INSERT INTO "event" VALUES(29,'{"at":"2028-03-27T12:00:00.000000Z","entry":"26","kind":"published","lineage":"north-ehr","number":"29"}','e962d5565bba576d2a725c335968dab80bdec77abd9f49066e58614d969d3279','4ff085adb6d718226dd9b8a65912b6f3e7614bec0c0e8013276c8833e0a2bce8');
CREATE TABLE head (
    only      INTEGER PRIMARY KEY CHECK (only = 1),
    number    INTEGER NOT NULL,
    hash      TEXT NOT NULL,
    signature TEXT NOT NULL          -- Ed25519, of the line that the anchor gets
) STRICT;
INSERT INTO "head" VALUES(1,29,'4ff085adb6d718226dd9b8a65912b6f3e7614bec0c0e8013276c8833e0a2bce8','492621d35ea0d1f8a48ae47de87cfecb36795607bc36382177e36c641fb6ca76e4e595e6f5f6c924a25d409ba6cb46be6d381a31e91a8a5d419b787e0b239b0a');
CREATE TABLE payload (
    entry INTEGER PRIMARY KEY REFERENCES request (entry),
    bytes BLOB NOT NULL
) STRICT;
INSERT INTO "payload" VALUES(3,X'616E73776572');
INSERT INTO "payload" VALUES(15,X'6C617374');
INSERT INTO "payload" VALUES(20,X'67726F776E');
INSERT INTO "payload" VALUES(26,X'6166746572');
CREATE TABLE request (
    entry       INTEGER PRIMARY KEY REFERENCES event (number),
    analyst     TEXT NOT NULL,
    plan_digest TEXT NOT NULL,
    request_key TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN (
        'reserved', 'reading', 'committed', 'published', 'burned', 'cancelled', 'refused'))
) STRICT;
INSERT INTO "request" VALUES(3,'ada','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','a','published');
INSERT INTO "request" VALUES(7,'ada','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','b','cancelled');
INSERT INTO "request" VALUES(9,'ada','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','c','refused');
INSERT INTO "request" VALUES(10,'ada','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','d','burned');
INSERT INTO "request" VALUES(15,'ada','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','e','published');
INSERT INTO "request" VALUES(20,'ada','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','g','published');
INSERT INTO "request" VALUES(26,'ada','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','after','published');
CREATE TRIGGER event_is_never_updated BEFORE UPDATE ON event
BEGIN SELECT RAISE(ABORT, 'ledger rows are never updated'); END;
CREATE TRIGGER event_is_never_deleted BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'ledger rows are never deleted'); END;
CREATE TRIGGER event_is_appended BEFORE INSERT ON event
WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM event)
BEGIN SELECT RAISE(ABORT, 'ledger rows are appended in order'); END;
CREATE UNIQUE INDEX request_has_one_answer ON request (analyst, plan_digest, request_key)
WHERE state NOT IN ('cancelled', 'refused');
CREATE TRIGGER request_is_never_deleted BEFORE DELETE ON request
BEGIN SELECT RAISE(ABORT, 'ledger rows are never deleted'); END;
CREATE TRIGGER request_moves_forward BEFORE UPDATE ON request
WHEN OLD.entry <> NEW.entry
  OR OLD.analyst <> NEW.analyst OR OLD.plan_digest <> NEW.plan_digest
  OR OLD.request_key <> NEW.request_key
  OR (OLD.state || '>' || NEW.state) NOT IN (
        'reserved>reading', 'reserved>cancelled', 'reading>committed', 'reading>burned',
        'committed>published')
BEGIN SELECT RAISE(ABORT, 'a request only moves forward'); END;
CREATE TRIGGER payload_is_never_updated BEFORE UPDATE ON payload
BEGIN SELECT RAISE(ABORT, 'an answer is never changed'); END;
CREATE TRIGGER payload_is_never_deleted BEFORE DELETE ON payload
BEGIN SELECT RAISE(ABORT, 'an answer is never deleted'); END;
COMMIT;
