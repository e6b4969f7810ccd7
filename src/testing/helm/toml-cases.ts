// TOML texts, good and bad, that fromToml is judged by; both helms say what each of them means or what is wrong with
// it.

// One text per line, as it stands between the quotes of a template: \n is a line end, \\ a backslash.
const TEXTS = String.raw`
a
a=
a =\n
a =\r\n
= 1
.a = 1
a. = 1
a..b = 1
a b = 1
a\n= 1
! = 1
"a\n" = 1
"" = []
"a b".c = 1\n"a b".c = 2
"\\u00e9" = 1\n"é" = 2
"a.b" = 1\na.b = 2
'a"b' = x
a = 1 b = 2
a = 1\na = 2
a = [1]\na = [2]
a = 1\na = [2]
a = [1]\n[a]
a.b = 1\na = [1]
a.b = 1\na.b.c = 2
a.b = 1\na = {c = 2}
a = 1\na = {b = 2}
a = {b = 1}\na.c = 2
[a]\n[a]
[a]\nb.c = 1\n[a.b]
[a.b]\n[a]
[a]\nb = 1\n[a.b]
[a]\n[[a]]
[[a]]\n[a]
[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 1
a = [{b = 1}]\n[[a]]
a = [{b = 1}]\n[a.c]
[
[]
[.]
[a.]
[a b]
[[a]
[[a] ]
[ a . "b c" ]\nx = 01
[a] x
[t]\nq = 1\nz
a = 01
a = 1_
a = 1__2
a = _1
a = 1_000
a = +01
a = 0_1
a = -9223372036854775808
a = 9223372036854775808
a = 0x
a = 0xDEAD_beef
a = 0x1_
a = 0o8
a = 0b2
a = +0x1
a = 0X1
a = 1a
a = 1.
a = .5
a = +.5
a = 1.e5
a = 1e
a = 1E-5
a = 1.5.5
a = 00.5
a = 1_.5
a = 1e5_
a = 1e5.5
a = 1_0.0_1
a = 1e400
a = -inf
a = +in
a = int
a = inan
a = nnf
a = +
a = --1
a = True
a = true1
a = été
a = @
a = 日
a = # c\n
a = 1979-05-27
a = 1979-05-27t07:32:00z
a = 1979-05-27 07:32:00.5
a = 1979-05-27T07:32:00.5+01:30
a = 1979-05-27T07:32:00+25:00
a = 1979-05-27T07:32:00+01:61
a = 1979-05-27T07:32Z
a = 07:32:00.25
a = 07:32
a = 7:32:00
a = 1979-02-29
a = 24:00:00
a = 1979-05-27  07:32:00
a = "x
a = "x\n"
a = "x\r\n"
a = "\\
a = "\\q"
a = "\\e"
a = "\\x41"
a = "\\x4"
a = "\\u00"
a = "\\uD800"
a = "\\U00110000"
a = "\\ "
a = "a\\\\b\\"c\\b\\t\\n\\f\\r\\u00e9\\U0001F600"
a = """x
a = """\nx\n"""
a = """a\\\n   b"""
a = """a\\  \r\n \n  b"""
a = """a\\  b"""
a = """a\\\\\nb"""
a = """a"" b"""""
a = """a""""""
a = """\\""""""
a = """a\nb\\u12"""
a = '''\nx\\n'''''
a = '''a''''''
a = 'x\n'
a = "\a"
a = 1 # \a
a = "a\rb"
a = 1\r\nb = 2\r\n
a = 1\x00
aaaaaa = 1\x00
\x00a = 1
\xef\xbb\xbfa = 1
\xff\xfea = 1
a = "\xff"
a = "\xc3"
a = [
a = [1
a = [1 2]
a = [,]
a = [1,,2]
a = [1é]
a = [ # c\n1 # d\n, # e\n2 # f\n]
a = [{a = 1}, 2, "x", 1.5, true, 1979-05-27, [[]]]
a = ["""x\ny""", 1
a = {
a = {,}
a = {a = 1,}
a = {a = 1,,}
a = {a = 1 b = 2}
a = {a = 1
a = {a = 1\n}
a = {\r\na = 1, # c\n b = 2,\n}
a = {a}
a = {=1}
a = {b.=1}
a = {a = 1}}
a = {b = {c = {d = 1, e = x}}}
a = {b = [{c = 1}, {c = x}]}
[t]\na = {b = 1, b = 2}
a = {b = {c = 1}, b.d = 2}
a = {b.a = 1, b = 2, b.c = 3}
a = [{b.a = 1, b = [{}], b.c = 3}]
`
  .trim()
  .split('\n')

/** Expressions over these texts, and what becomes of dates that came from one. */
export const TOML_CASES: readonly string[] = [
  ...TEXTS.map((text) => `fromToml "${text.replaceAll('"', '\\"')}"`),
  'fromToml "[[a]]\\nb = 1979-05-27\\n[[a]]" | toToml',
  'toToml (fromToml "a = 1979-05-27T07:32:00.5+01:30\\nb = [1979-05-27 07:32:00, 07:32:00.5, 1979-05-27]")',
  'fromToml "a = 1979-05-27T07:32:00.5+01:30\\nb = 07:32:00" | toJson',
  'fromToml "a = 1979-05-27T07:32:00+24:00" | toJson',
  'fromToml "[[a]]\\nb = 1" | values | first | typeOf',
  '(fromToml "a = 1979-05-27").a.Year',
  'toDate "2006-01-02T15:04:05Z07:00" "2023-02-03T04:05:06-03:30"',
  'toDate "2006-01-02T15:04:05Z07:00" "2023-02-03T04:05:06+25:00"',
]
