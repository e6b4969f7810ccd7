// Expressions that every function and trap is judged by; each is printed with %v by helm and by us.

/** What the expressions find in .Values. */
export const CASE_VALUES = `
str: hello
empty: ""
n: 5
neg: -7
big: 1000000
f: 1.5
t: true
z: 0
nothing: null
list: [c, a, b, a]
nums: [3, 1, 2]
mixed: [1, two, null, true]
m: {b: 2, a: one, c: {d: deep}}
a10: x
a9: y
octal: 0644
loop: {}
yes: ok
date: 2001-01-01
uni: "héllo wörld"
`

/** One expression per line. */
export const CASES: readonly string[] = `
hello
abbrev 5 "hello world"
abbrev 3 "hello"
abbrevboth 5 10 "1234 5678 9123"
abbrevboth 0 7 "abcdefghijklmno"
trunc 3 "héllo"
trunc -3 "hello"
trunc 2 .Values.uni
trim "  x y \\n"
upper "aßéI"
lower "ÀÉÎİ"
title "hello wörld of_go-lang 3rd"
untitle "Hello World"
substr 1 3 "hello"
substr -1 3 "hello"
substr 2 -1 "hello"
repeat 3 "ab"
trimall "-" "--a-b--"
trimAll "$" "$5.00$"
trimSuffix "-" "a--"
trimPrefix "-" "--a"
nospace " a b\\tc "
initials "First Try here"
swapcase "This Is A.Test"
snakecase "FirstName HTTPServer http2xx GO_PATH Bld4Floor3rd"
camelcase "http_server no-https _complex__case_ GOLANG_IS_GREAT"
kebabcase "FirstName HTTP20xOK Duration2m3s"
wrap 5 "aaa bbb ccc ddd"
wrapWith 5 "|" "aaaaaaaa bb cc"
contains "cat" "catch"
hasPrefix "cat" "catch"
hasSuffix "ch" "catch"
quote "a" 1 nil "b\\"c" true 1.5 .Values.m
squote "a" 1 nil .Values.list
cat "a" nil 1 true "b"
indent 2 "a\\nb"
nindent 2 "a\\nb\\n"
replace "a" "b" "banana"
replace "" "-" "abc"
plural "one" "many" 1
plural "one" "many" 2
toString 5
toString .Values.list
toStrings .Values.mixed
split "/" "a/b/c"
(split "/" "a/b/c")._1
splitList "/" "a/b/c"
splitList "" "abc"
splitn "/" 2 "a/b/c"
join "-" .Values.list
join "-" .Values.mixed
join "," "x"
atoi "12"
atoi "x"
int "0x10"
int "12.00"
int "12.5"
int 3.9
int .Values.big
int64 "-5"
int64 true
float64 "1.25"
float64 "x"
list (float64 "1_0") (float64 "1_01_0") (float64 "1__0") (float64 "_1") (float64 "1_") (float64 "0x_1p4")
list (float64 "1_0.5_0e1_0") (float64 "0_1") (float64 "1._5") (float64 "0x1_0p4") (floor "1_01_0") (ceil "5_0") (int "1_0")
toDecimal "777"
add1 5
add 1 2 3.7 "4"
sub 5 3
div 7 2
mod -7 3
mul 2 3 4
add1f 1.1
addf 0.1 0.2
subf 1 0.9
divf 1 3
mulf 1.1 1.1
biggest 1 5 3
max 1 5 3
min 4 2 9
maxf 1.5 2.5
minf 1.5 2.5
ceil 1.1
floor -1.1
round 1.2345 2
round 2.5 0
round -2.5 0
until 4
untilStep 0 10 3
untilStep 5 0 -2
seq 5
seq 2 5
seq 0 2 10
seq 5 1
seq -2
list 1 "a" nil
tuple 1 2
append (list 1) 2
push (list 1) nil
mustAppend (list 1) 2
mustPush (list 1) 2
prepend (list 1) 0
mustPrepend (list 1) 0
first .Values.list
mustFirst (list)
last .Values.list
mustLast .Values.list
rest .Values.list
rest (list)
mustRest (list 1 2)
initial .Values.list
mustInitial (list)
reverse .Values.list
mustReverse (list 1 2)
compact (list 0 1 "" "a" nil false)
mustCompact (list "" "a")
uniq .Values.list
mustUniq (list 1 1.0 1)
without .Values.list "a"
mustWithout (list 1 2) 1
has "a" .Values.list
has 5 .Values.nums
has 1 nil
mustHas 3.0 .Values.nums
slice .Values.list 1 3
slice .Values.list
mustSlice .Values.list 2
chunk 2 .Values.list
mustChunk 3 (list 1 2 3 4)
concat .Values.list (list 1)
concat (list)
sortAlpha .Values.list
sortAlpha "x"
sortAlpha (list 10 9 "a10" "a9")
all 1 "a" true
any 0 "" false
empty .Values.z
empty .Values.m
coalesce nil "" 0 "x"
default "d" .Values.empty
default "d" .Values.n
default "d"
ternary "y" "n" true
dict "a" 1 "b"
dict 1 2
get .Values.m "a"
get .Values.m "zz"
set (dict "a" 1) "b" 2
unset (dict "a" 1 "b" 2) "a"
hasKey .Values.m "c"
pluck "a" .Values.m (dict "a" 2) (dict "b" 3)
keys (dict "only" 1)
values (dict "only" 1)
pick .Values.m "a" "zz"
omit .Values.m "a"
merge (dict "a" 1 "n" nil) (dict "a" 2 "b" (dict "c" 1) "n" 3) (dict "b" (dict "d" 2))
merge (dict "l" (list 1)) (dict "l" (list 2) "k" (list))
mustMerge (dict) (dict "a" (dict "b" 1))
mergeOverwrite (dict "a" 1 "b" true "l" (list 1)) (dict "a" 2 "b" false "l" (list))
mustMergeOverwrite (dict "a" (dict "x" 1)) (dict "a" (dict "y" 2))
mergeOverwrite (dict "a" 1) (dict "a" nil)
merge nil (dict "a" 1 "n" nil)
merge nil (dict)
merge nil nil
mergeOverwrite nil nil (dict "a" nil)
dig "c" "d" "none" .Values.AsMap.m
dig "c" "zz" "none" (dict "c" (dict "d" 1))
deepCopy .Values.m
mustDeepCopy .Values.list
typeOf .Values
typeOf .Values.m
typeOf .Values.n
typeOf 1
typeOf (add 1 2)
typeOf nil
typeOf (list)
typeOf (until 2)
typeOf (split "a" "b")
typeOf .Files
typeOf (now)
typeIs "string" "x"
typeIsLike "string" "x"
kindOf .Values.list
kindOf .Values.nothing
kindIs "map" .Values
kindOf 1.5
deepEqual (list 1 2) (list 1 2)
deepEqual 1 1.0
base "a/b/c.txt"
dir "a/b/c.txt"
clean "a/../b//c"
ext "a/b.c.txt"
isAbs "/a"
osBase "/a/b"
osDir "/a/b"
osClean "/a//b/."
osExt "a.b"
osIsAbs "a"
urlParse "http://admin:secret@server.com:8080/api?list=false#anchor"
urlParse "mailto:joe@x.org"
atoi "9223372036854775808"
atoi "-9223372036854775809"
lower (trunc 5 "日本🚢")
upper (printf "%sAb" (trunc 2 "日"))
title (printf "%sab cD" (trunc 2 "日"))
untitle (printf "%sAb cD" (trunc 2 "日"))
swapcase (printf "%sAb cD" (trunc 2 "日"))
camelcase (printf "%sAb cD" (trunc 2 "日"))
js (printf "%sAb" (trunc 2 "日"))
snakecase (printf "Ab%sCd" (trunc 2 "日"))
snakecase (printf "%sHTTPServer%s2xx" (trunc 2 "日") (trunc 1 "é"))
snakecase (printf "AB%s" (trunc 2 "日"))
snakecase (printf "a_%s_b" (trunc 2 "日"))
snakecase (trunc 2 "日")
snakecase "İstanbul ΑΣ a\ufffdB"
kebabcase (printf "Ab%sCd4%sE" (trunc 2 "日") (trunc 2 "日"))
kebabcase (printf "a--%sb" (trunc 2 "日"))
camelcase "ßa_ßb_ŉc"
toYamlPretty (list (trunc 2 "日") "é")
toYamlPretty (dict (trunc 2 "日") (printf "%s%s" (repeat 60 "x") (trunc 1 "é")))
toYamlPretty (dict "a" (printf "%s%s" (repeat 51 "x") (trunc 1 "é")))
hasPrefix (trunc 2 "日") "日本"
hasPrefix (trunc 2 "日") "目"
hasSuffix (substr 1 3 "日") "本日"
contains (substr 1 4 "日本") "日本"
trimPrefix (trunc 2 "日") "日本"
trimPrefix (trunc 2 "日") "é"
trimSuffix (substr 1 3 "日") "本日"
replace (trunc 1 "é") "X" "éaè"
replace "é" (trunc 1 "é") "éaè"
splitList (trunc 1 "é") "éaèb"
splitn (trunc 1 "é") 2 "éaèb"
split (trunc 1 "é") "éa"
printf "%w|%5w|%#w|%+w" (list 1 "a") (dict "k" 2) "x" 3
printf "%+#.2w" (dict "k" 1.5)
printf "%f|%t" (list (semver "1.2.3-rc.1")) (list (semver "2.0.0"))
printf "%4v|%.3d" (.Files.GetBytes "files/a.txt") (list (.Files.GetBytes "files/a.txt"))
slice (.Files.GetBytes "files/a.txt") 1 3 | toJson
printf "%#5O|%+#O|%#.0O" 2 8 (list 4)
printf "%#q|%#q|%+#q" "a" (trunc 1 "é") "\ufeff"
printf "%#w" (.Files.GetBytes "files/a.txt")
b32dec "UTC"
b32dec "MFRGGZDFMZ"
duration "9223372036854775808"
duration (int64 9223372036854775807)
regexSplit "a" "banana" 0 | toJson
printf "%#v" (list (.Files.GetBytes "files/a.txt") 1)
round "1e3" 97
round 1234.5678 -2
round 0.123456789 5
chunk -1 (list 1 2)
chunk -3 (list 1 2)
chunk -3 (list 1)
unset nil "a"
squote "a" 1 (list 2 "b") (.Files.GetBytes "files/a.txt")
html "a" .Capabilities
js .Capabilities "b"
list .Capabilities.KubeVersion
dict "a" .Capabilities.KubeVersion
(semver "1.2.3").SetPrerelease "rc.1"
((semver "v1.2.3+b").SetMetadata "c.d").String
typeOf ((semver "1.2.3").IncMajor)
printf "%#v" ((semver "v1.2.3-a").IncPatch)
(semver "1.2.3").MarshalText
(semver "1.2.3-a").Value
(toDate "2006-01-02 15:04:05" "2020-02-03 04:05:06").Truncate 3600000000000
(toDate "2006-01-02 15:04:05" "2020-02-03 04:35:06").Round 3600000000000
(toDate "2006-01-02 15:04:05" "2020-02-03 04:35:06").Add 1500
(toDate "2006-01-02" "2020-02-03").Location.String
(toDate "2006-01-02" "2020-02-03").Compare (toDate "2006-01-02" "2020-02-04")
toDate "15:04 2 Jan 2006" "7:08   3 feb 2021"
toDate "2006-01-02 3:04PM" "2021-02-03 4:05pm"
toDate "2006-01-02 3:04PM" "2021-02-03 12:05AM"
toDate "2006 002" "2024 060"
toDate "2006 __2" "2024   6"
toDate "2006-01-02 MST" "2020-02-03 GMT+3"
toDate "2006-01-02 MST" "2020-02-03 ChST"
toDate "2006-01-02 -07:00" "2020-02-03 +24:60"
toDate "15:04:05.00" "01:02:03.45"
toDate "15:04:05" "01:02:03,456789"
toDate "Mon Jan _2 15:04:05 2006" "tue feb  4 01:02:03 2020"
toDate "06" "70"
toDate "_2006" "_2020"
date ".0 ,9 .00x 2006.01" (toDate "2006-01-02" "2020-02-03")
merge .Values.loop .Values | toJson
sortAlpha (list (substr 1 9 "日本🚢Ax") (trunc 2 "日") "日" "a" "🚢" "～")
fromJson (substr 1 9 "日本🚢Ax")
fromJson "\\x7f"
fromJson "{\\x0b"
fromJson "-1.5e3011"
fromJson "[1e999]"
fromJsonArray "{\\"a\\":1e999}"
fromJson "tru"
fromJson "[-"
fromJson "1."
fromJson "1e+"
fromJson "\\"\\\\u12"
fromJson "{\\"a\\":1"
urlParse "x/y:z"
urlParse "amqp://host:80:90/"
urlParse "mongodb://a:1,b:2/db"
urlParse "http://[::1]:80/x"
urlParse "http://[fe80::1%25en0]/"
urlParse "http://ünï日本/日本?q=ü#日本 x"
urlParse "http://u:p@ss@h/x"
urlParse "http://u%20x:p%2fq@h/x%2fy"
urlParse "http://h%c3%bc/"
urlParse "http://h?x=1?y=2"
urlParse "HTTP://H/x?"
urlParse "///x"
urlParse "//h/x"
urlParse "*"
urlParse ""
urlParse "http://h<>\\"/{}|^"
urlParse "http://$(VAR)/x"
urlParse (trunc 2 "日")
urlJoin (dict "scheme" "http" "host" "h:80" "path" "x y/ü" "query" "q=ü&x" "fragment" "f x")
urlJoin (dict "scheme" "http" "host" "h" "path" "/x?y#z%")
urlJoin (dict "scheme" "http" "path" "/x")
urlJoin (dict "scheme" "http")
urlJoin (dict "path" "a:b/c")
urlJoin (dict "host" "h" "userinfo" "u:p@x")
urlJoin (dict "host" "h" "userinfo" ":p")
urlJoin (dict "opaque" "o" "scheme" "s" "host" "h")
urlJoin (dict "host" "h ü/[]" "path" "[]*")
urlJoin (dict "path" "*")
urlJoin (dict "fragment" "a'b\\"c<d>[e]")
urlJoin (dict)
urlJoin (dict "fragment" "fragment" "host" "host:80" "path" "/path" "query" "query" "scheme" "http")
urlJoin (dict "host" "h" "path" "a b" "scheme" "https" "userinfo" "u:p")
regexMatch "^[a-z]+$" "abc"
regexMatch "(" "abc"
regexFindAll "x" "abc" -1 | toJson
regexSplit "a" "banana" 0 | toJson
.Files.Get "files/a.txt"
.Files.Lines "files/a.txt"
(.Files.Glob "files/*").AsConfig
(.Files.Glob "**.txt").AsSecrets
.Files.GetBytes "files/a.txt"
.Capabilities.APIVersions.Has "apps/v1"
.Capabilities.KubeVersion.Minor
.Template.Name
.Template.BasePath
.Release
mustRegexMatch "b" "abc"
regexFind "[a-z][1-9]" "ab1cd2"
mustRegexFind "x" "abc"
regexFindAll "[2,4,6,8]" "123456789" -1
regexFindAll "a*" "baaac" -1
mustRegexFindAll "." "abc" 2
regexReplaceAll "a(x*)b" "-ab-axxb-" "\${1}W"
regexReplaceAll "a(x*)b" "-ab-axxb-" "$1W"
mustRegexReplaceAll "(?P<n>b)" "abc" "<\${n}>"
regexReplaceAllLiteral "a(x*)b" "-ab-axxb-" "\${1}"
mustRegexReplaceAllLiteral "b" "abc" "$0"
regexSplit "z+" "pizza" -1
regexSplit "a" "banana" 2
mustRegexSplit "" "abc" -1
regexQuoteMeta "1.2.3*"
b64enc "héllo"
b64dec "aGVsbG8="
b64dec "!!"
b64dec "aGVsbG8"
b32enc "hello"
b32dec "NBSWY3DP"
b32dec "nope!"
sha1sum "hello"
sha256sum "hello"
sha512sum "hello"
adler32sum "hello"
len (randAlphaNum 8)
len (randAlpha 8)
len (randNumeric 8)
len (randAscii 8)
len (randBytes 9)
lt (randInt 1 3) 3
len (uuidv4)
len (shuffle "hello")
regexMatch "^\\\\$2a\\\\$10\\\\$.{53}$" (bcrypt "x")
hasPrefix "u:$2a$10$" (htpasswd "u" "p")
htpasswd "a:b" "p"
derivePassword 1 "long" "password" "user" "example.com"
derivePassword 2 "pin" "password" "user" "example.com"
derivePassword 1 "nope" "p" "u" "s"
decryptAES "key" (encryptAES "key" "plain text")
decryptAES "secretkey" "30tEfhuJSVRhpG97XCuWgz2okj7L8vQ1s6V9zVUPeDQ="
hasPrefix "-----BEGIN EC PRIVATE KEY" (genPrivateKey "ecdsa")
hasPrefix "-----BEGIN PRIVATE KEY" (genPrivateKey "ed25519")
genPrivateKey "nope"
hasPrefix "-----BEGIN RSA PRIVATE KEY" (genCA "ca" 10).Key
typeOf (genSelfSignedCert "c" (list "10.0.0.1") (list "a.b") 10)
hasPrefix "-----BEGIN" (genSignedCert "c" nil nil 10 (genCAWithKey "c" 1 (genPrivateKey "ecdsa"))).Cert
hasPrefix "-----BEGIN" (genCAWithKey "c" 1 (genPrivateKey "ecdsa")).Cert
hasPrefix "-----BEGIN" (genSelfSignedCertWithKey "c" nil nil 1 (genPrivateKey "ecdsa")).Cert
hasPrefix "-----BEGIN" (genSignedCertWithKey "c" nil nil 1 (genCAWithKey "c" 1 (genPrivateKey "ecdsa")) (genPrivateKey "ecdsa")).Cert
hasPrefix "-----BEGIN" (buildCustomCert (b64enc (genCAWithKey "c" 1 (genPrivateKey "ecdsa")).Cert) (b64enc (genPrivateKey "ecdsa"))).Cert
semver "1.2.3-beta.1+build"
(semver "1.2.3").Major
(semver "v1.2.3-a").Prerelease
(semver "1.2.3").Compare (semver "1.2.4")
semverCompare ">=1.16.0" "1.18.9-eks-1"
semverCompare ">=1.16.0-0" "1.18.9-eks-1"
semverCompare "^1.2" "1.9.0"
semverCompare "~1.2.3" "1.2.9"
semverCompare "1.x" "1.9.0"
semverCompare ">1.2 <2.0 || 3.x" "3.5.0"
semverCompare "1.2 - 1.4.5" "1.4.5"
semverCompare "!=1.2.3" "1.2.3-a"
semverCompare ">=1.0.0-0 <2.0.0" "1.5.0-a"
semverCompare "*" "1.0.0"
fromJson "{\\"a\\":[1,2.5,null]}"
fromJson "[1]"
fromJson "{bad"
fromJsonArray "[1,\\"a\\"]"
fromJsonArray "{}"
mustFromJson "[1,2]"
toJson (dict "a<b" "x&y>\\u2028" "n" 1.0 "b" 1e21 "s" 1e-7)
mustToJson .Values.m
toPrettyJson .Values.m
mustToPrettyJson (list)
toRawJson (dict "a<b" "&")
mustToRawJson (list "<")
fromYaml "a: [1, 0644, yes, 1e3]\\nb: on"
fromYaml "- 1"
fromYaml "a: b: c"
fromYaml (printf "a: %s" (trunc 2 "日本"))
fromYaml (printf "a: %s\\nb: 1" (trunc 2 "日本"))
fromYamlArray (trunc 2 "日本")
hasPrefix "-----BEGIN" (genCAWithKey "ü" 9007199254740993 (genPrivateKey "ecdsa")).Cert
hasPrefix "-----BEGIN" (genCAWithKey "" -40000 (genPrivateKey "ecdsa")).Cert
fromYaml "a: 1\\n---\\nb: 2"
fromYamlArray "- 1\\n- a"
fromYamlArray "a: 1"
toYaml .Values
toYaml (dict "a10" 1 "a9" 2 "y" "yes" "n" "no" "multi" "a\\nb\\n" "e" "" "num" "5" "nil" nil)
toYaml (list "a: b" "- c" "#x" "x #y" " lead" "trail " "\\ttab" "é😀" "null" "~" "1e3" "0x1f" "1_000" "2001-01-01")
toYaml (printf "%s %s" (repeat 10 "long words ") (repeat 10 "more words "))
toYaml "a\\n\\n b\\n"
toYamlPretty (dict "a" (list 1 2.5 "x") "b" (dict "c" nil) "l" (list))
toToml (dict "a" 1 "b" "x" "c" (dict "d" true "e" (list 1 2)) "f" 1.5)
toToml "x"
toToml (list (dict "a" 1) 2.5 "b")
toToml (dict "a" 1e30 "b" 1e-7 "c" 1000000.0 "d" 123456789.5)
toToml (dict "l" (list (dict "b" 1 "t" (dict "x" 1 "y" nil) "n" nil) 1))
fromToml "l = [{a = 1}, 2]"
html nil
fromJson "null"
fromJson "{\\"a\\":[1,1e400],\\"b\\":{\\"c\\":-1e400,\\"d\\":\\"x\\"},\\"Error\\":1}" | toJson
fromJson "{\\"a\\":1e400,\\"a\\":2}"
fromJson "1e400"
fromJsonArray "[1,1e400]"
fromJsonArray "null" | toJson
eq (fromJson "null") nil
fromToml "a = 1\\n[b]\\nc = \\"x\\"\\nd = [1, 2]"
date "2006-01-02T15:04:05Z07:00" (toDate "2006-01-02" "2023-02-03")
date "Mon Jan _2 15:04:05 PM MST 06" 1700000000
dateInZone "2006-01-02 15:04:05 MST" 1700000000 "America/New_York"
date_in_zone "Jan 2, 2006 at 3:04pm (MST)" 1700000000 "UTC"
dateInZone "2006-01-02 15:04 -0700" 1700000000 "Europe/Berlin"
htmlDate 1700000000
htmlDateInZone 1700000000 "Asia/Tokyo"
dateModify "-1.5h" (toDate "2006-01-02" "2023-02-03")
date_modify "nope" (toDate "2006-01-02" "2023-02-03")
mustDateModify "24h" (toDate "2006-01-02" "2023-02-03")
must_date_modify "1m" (toDate "2006-01-02" "2023-02-03")
toDate "2006-01-02" "nope"
mustToDate "2006-01-02 15:04" "2023-02-03 04:05"
unixEpoch (toDate "2006-01-02" "2023-02-03")
(toDate "2006-01-02" "2023-02-03").Weekday
(toDate "2006-01-02" "2023-02-03").YearDay
hasSuffix "s" (ago (now))
duration "95"
duration 95
durationRound "2h10m5s"
durationRound "400h"
kindOf (now)
len (getHostByName "localhost")
lookup "v1" "Secret" "ns" "name"
required "x" "given"
include "given" (dict "x" 1)
tpl "{{ .Values.str }}-{{ include \\"given\\" (dict \\"x\\" 2) }}" .
tpl "{{ define \\"inner\\" }}in{{ end }}{{ include \\"inner\\" . }}{{ .Values.nope }}" .
and 1 0 2
or 0 "" "x"
not .Values.t
eq 1 2 1
eq .Values.str "hello"
ne "a" "b"
lt 1 2
le 2 2
gt "b" "a"
ge 1.5 1.5
index .Values.list 1
index .Values "m" "c" "d"
index .Values.m "zz"
len .Values.uni
print "a" 1 2 "b" nil
println "a" 1
printf "%5.2f|%-5s|%05d|%x|%q|%t|%v|%T" 3.14159 "ab" 42 255 "q" true .Values.m .Values.n
printf "%d %s %!" .Values.n 5
printf "%s" .Values.nothing
printf "%[2]d %[1]d %d" 1 2
printf "%6.2f%%|%+d|%08.3f|%e|%g|%G" 12.345 5 3.14159 123456.789 1e21 1e-7
printf "%#v %#v %#x %X %o %b %c %U" "a" (list 1 "b") 255 "hi" 8 5 65 0x1F600
printf "%*d|%-8v|%8v" 5 42 "left" .Values.f
printf "%.0f|%3d" .Values.str "x"
printf "%d|%t|%7v|%q|%x" (list 1 nil) (list true nil "l") (list 1 nil) (dict "k" nil) (list nil "a")
printf "%#U|%#U|%#U|%#12U" 0x1F600 7 0x110000 9007199254740993
printf "%#5.0v|%#.3v|%+#v|%#8v|%-#8v|%#6v|%#06v" 1.5 3.14159 2.5 7 7 true 1.5
printf "%#6v|%#.1v|%#.2v" (list 1 "b" 2.5 nil) (dict "key" 1.25 "l" (list "xyz")) "\u00e9abc"
printf "%#v|%#5v|%#x" (.Files.GetBytes "files/a.txt") (.Files.GetBytes "files/a.txt") (.Files.GetBytes "files/a.txt")
html "<a href=\\"x\\">'&"
js "it's <b>\\n"
urlquery "a b&c=é"
0x1p4
1e3
'a'
1_000
0b101
.Values.big
.Values.f
.Values.octal
.Values.date
.Values.list
.Values.m
.Values.nothing
(.Values.nope).deeper
.Values.a10
fail
call
`
  .trim()
  .split('\n')
  .filter((line) => line !== 'fail' && line !== 'call')
