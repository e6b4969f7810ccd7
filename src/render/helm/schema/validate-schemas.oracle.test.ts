// values.schema.json against both real helms: every keyword, the drafts, schemas that are wrong themselves, and
// formats.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { schemaLines } from '../../../testing/helm/compare.ts'
import { renderLikeHelm } from '../../../testing/helm/render.ts'
import { findBinary } from '../../../testing/testenv.ts'

const DRAFT_7 = '"$schema":"http://json-schema.org/draft-07/schema#"'
const DRAFT_4 = '"$schema":"http://json-schema.org/draft-04/schema#"'
const DRAFT_2019 = '"$schema":"https://json-schema.org/draft/2019-09/schema"'
const x = (schema: string) => `{"properties":{"x":${schema}}}`

/** Schema, values, and whether only Helm 4 has a word for it. */
const CASES: readonly (readonly [schema: string, values: string, only?: 'helm4'])[] = [
  ['{"allOf":[{"required":["q"]},{"properties":{"x":{"type":"string"}}}]}', 'x: 1'],
  [x('{"allOf":[{"type":"string"},{"minimum":5}]}'), 'x: 1'],
  [x('{"anyOf":[{"type":"string"},{"minimum":5}]}'), 'x: 1'],
  [x('{"anyOf":[{"required":["a"]},{"required":["b"],"properties":{"c":{"type":"string"}}}]}'), 'x: {c: 1}'],
  [x('{"oneOf":[{"type":"string"},{"minimum":5,"multipleOf":3},{"type":"object"}]}'), 'x: 1'],
  [x('{"oneOf":[{"properties":{"k":{"const":1}},"required":["z"]},{"properties":{"k":{"const":2}}}]}'), 'x: {k: 3}'],
  [x('{"oneOf":[{"type":"integer"},{"minimum":0}]}'), 'x: 1'],
  [x('{"not":{"type":"integer"}}'), 'x: 1'],
  [x('{"if":{"type":"integer"},"then":{"minimum":5},"else":{"type":"object"}}'), 'x: 1'],
  [x('{"if":{"type":"integer"},"then":{"minimum":5},"else":{"type":"object"}}'), 'x: a'],
  [`{${DRAFT_4},"properties":{"x":{"minimum":1,"exclusiveMinimum":true,"maximum":1,"exclusiveMaximum":true}}}`, 'x: 1'],
  [x('{"minimum":1,"exclusiveMinimum":true}'), 'x: 1'],
  [`{${DRAFT_7},"properties":{"x":{"minimum":"1","type":"strong","required":"a"}}}`, 'x: 1'],
  [
    `{${DRAFT_7},"definitions":{"a":{"type":"string"}},"properties":{"x":{"$ref":"#/definitions/a","minimum":4}}}`,
    'x: 1',
  ],
  ['{"$defs":{"a":{"type":"integer"}},"properties":{"x":{"$ref":"#/$defs/a","minimum":4}}}', 'x: 1'],
  ['{"$schema":"http://json-schema.org/schema#","properties":{"x":{"type":"string"}}}', 'x: 1'],
  ['{"$schema":"https://json-schema.org/draft-07/schema","properties":{"x":{"type":"string"}}}', 'x: 1'],
  [x('{"items":[{"type":"string"}]}'), 'x: [1]'],
  [`{${DRAFT_7},"properties":{"x":{"items":[{"type":"string"}],"additionalItems":false}}}`, 'x: [1, 2, 3]'],
  [`{${DRAFT_2019},"properties":{"x":{"items":[{"type":"string"}],"additionalItems":{"minimum":9}}}}`, 'x: [1, 2, 3]'],
  [x('{"prefixItems":[{"type":"string"}],"items":false}'), 'x: [1, 2, 3]'],
  [x('{"dependencies":{"a":["b","c"],"d":{"required":["e"]}}}'), 'x: {a: 1, d: 1}'],
  [x('{"dependentRequired":{"a":["b"]},"dependentSchemas":{"a":{"required":["z"]}}}'), 'x: {a: 1}'],
  [
    x('{"additionalProperties":false,"properties":{"k":true},"patternProperties":{"^p":{"type":"string"}}}'),
    'x: {a: 1, b: 2, p: 3, k: 4}',
  ],
  [x('{"additionalProperties":{"type":"string"}}'), 'x: {a: 1, b: {c: 2}}'],
  [
    '{"properties":{"x":{"properties":{"a":{"type":"string"},"b":{"properties":{"c":{"type":"string"},"d":{"type":"string"}}}}},"y":{"minimum":5}}}',
    '{x: {a: 1, b: {c: 1, d: 2}}, y: 1}',
  ],
  [
    '{"$defs":{"s":{"properties":{"a":{"properties":{"b":{"type":"string"},"c":{"type":"string"}}}}}},"properties":{"x":{"$ref":"#/$defs/s"}}}',
    'x: {a: {b: 1, c: 2}}',
  ],
  ['{"if":{"required":["x"]},"then":{"properties":{"x":{"type":"string"},"y":{"type":"string"}}}}', '{x: 1, y: 2}'],
  ['{"type":"object","unevaluatedProperties":false,"allOf":[{"properties":{"z":true}}]}', '{x: {a: 1}, z: 2}'],
  [x('{"contains":{"type":"string"},"minContains":2}'), 'x: [a, 1]'],
  [x('{"contains":{"type":"string"}}'), 'x: [1, {}]'],
  [x('{"contains":{"type":"integer"},"maxContains":1}'), 'x: [1, 2]'],
  [x('{"propertyNames":{"pattern":"^a"}}'), 'x: {b: 1}'],
  [x('{"minLength":5,"pattern":"^a","enum":["q",1,null],"const":{"a":1}}'), 'x: b'],
  [x('{"enum":["q",1,null],"minLength":5}'), 'x: b'],
  [x('{"enum":["q",[1]]}'), 'x: b'],
  [x('{"const":"c"}'), 'x: b'],
  [x('{"maxLength":2,"pattern":"^a"}'), 'x: bcde'],
  ['{"properties":{"x":{"type":["string","null"]},"y":{"type":"integer"}},"required":["z","w"]}', '{x: 1, y: 1.5}'],
  [x('{"minItems":3,"uniqueItems":true}'), 'x: [1, 1]'],
  [x('{"maxItems":1,"items":{"type":"string","minLength":2}}'), 'x: [1, a]'],
  [x('{"minProperties":3}'), 'x: {a: 1}'],
  [x('{"multipleOf":0.1,"maximum":2,"exclusiveMaximum":2}'), 'x: 2.55'],
  [x('{"$ref":"#/definitions/none"}'), 'x: 1'],
  [x('{"type":"string"}').slice(0, -1), 'x: 1'],
  ['[]', 'x: 1'],
  [x('false'), 'x: 1'],
  [x('{"pattern":"(?=a)"}'), 'x: a'],
  ['{"properties":{"x":{"$id":"#/properties/x"},"y":{"$id":"#/properties/y","type":"object"}}}', 'x: a'],
  ['{"properties":{"x":{"required":true,"items":{"type":"strin"}}},"additionalProperties":"no"}', 'x: a'],
  [`{${DRAFT_7},"properties":{"x":{"required":true,"properties":[]}},"definitions":{"a":5}}`, 'x: a', 'helm4'],
  [`{${DRAFT_4},"properties":{"x":{"required":true,"minLength":-1,"enum":{}}}}`, 'x: a', 'helm4'],
  [`{${DRAFT_2019},"properties":{"x":{"type":["string",5],"$anchor":"0"}}}`, 'x: a', 'helm4'],
  // How texts and numbers are shown.
  [x('{"pattern":"^\\\\d+\'\\"$"}'), String.raw`x: "it's\n\"q\" \\ é 日 \u200b"`],
  [x('{"enum":["a\'b","c\\"d","e\\nf",1.5,100000,null,true]}'), 'x: 1'],
  [x('{"const":"a\'b\\\\"}'), 'x: 1'],
  [
    x('{"properties":{"a\'b":{"type":"string"},"c/d~e":{"type":"string"},"f\\ng":false}}'),
    String.raw`x: {"a'b": 1, c/d~e: 1, "f\ng": 1}`,
  ],
  [x('{"required":["a\'b"],"additionalProperties":false}'), String.raw`x: {'c"d': 2}`],
  [x('{"propertyNames":{"pattern":"^a"}}'), `x: {"b'c": 1}`],
  [x('{"dependencies":{"a\'b":["c\'d"]}}'), `x: {"a'b": 1}`],
  [x('{"minLength":2000}'), 'x: abc'],
  [x('{"minProperties":1234567}'), 'x: {}'],
  [x('{"contains":{"type":"string"},"minContains":2000}'), 'x: [a]', 'helm4'],
  ...['999', '1000', '99999.5', '999999.9', '1000000', '-1234567.5', '0.00012', '0.00001', '1e100', '2.5e-7', '0'].map(
    (number) => [x(`{"exclusiveMinimum":${number}}`), `x: ${number}`] as const,
  ),
  [x('{"type":"string"}'), String.raw`x: "a\x7fb"`],
  [x('{"type":"string"}'), String.raw`x: {"a\u0090b": 1}`],
]

const FORMATS =
  'email idn-email ipv4 ipv6 uri uri-reference uri-template iri hostname date time date-time duration regex uuid json-pointer relative-json-pointer semver period nope'.split(
    ' ',
  )

const SAMPLES = [
  '', 'bad', 'a@b.c', 'a b@c.de', '"q q"@x.org', 'Name <a@b.c>', '1.2.3.4', '01.2.3.4', '1.2.3', '::1', 'fe80::1%eth0',
  '::ffff:1.2.3.4', 'http://x.org/p?q#f', '/rel/path', 'http://[::1]:80/', 'a b', 'x.example.org', '-bad.org',
  '2020-02-30', '2020-02-28', '2020-02-28T10:00:00Z', '2020-02-28T10:00:00.5+02:00', '10:00:00Z', '10:00:00', 'P1DT2H',
  'P1W', 'a(b', '^a$', '/a/b~0', '/a~2', '0/a', '1#', '123e4567-e89b-12d3-a456-426614174000',
  '123e4567-e89b-12d3-a456-42661417400z', '{x}/y', '{x', '1.2.3-rc.1', '2020-02-28t10:00:00z', '23:59:60Z', 'a..b',
  'urn:x:y', 'http://a b', 'a@[1.2.3.4]', 'xn--a.b', 'é.org', 'é@x.org', '#/a', '\\x', '12:00:60Z', 'P', 'PT', 'P1Y2W',
  'x.org.', '256.1.1.1', '1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7', '1::2::3', 'http://x.org:port/', 'http://x/%zz', 'a%zz',
] // prettier-ignore

interface Chart {
  readonly schema: string
  readonly values: string
}

function ours(chart: Chart, version: 'helm3' | 'helm4'): string {
  const files: Readonly<Record<string, string>> = {
    'Chart.yaml': 'apiVersion: v2\nname: s\nversion: 1.0.0\n',
    'values.schema.json': chart.schema,
  }
  const tree = new Map(Object.entries(files).map(([name, text]) => [name, new TextEncoder().encode(text)]))
  const data = new TextEncoder().encode(chart.values)
  return renderLikeHelm(tree, { version, files: [{ name: 'v', data }] }).stderr
}

async function real(chart: Chart, binary: string): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'helm-schema-'))
  try {
    mkdirSync(join(dir, 's'))
    writeFileSync(join(dir, 's/Chart.yaml'), 'apiVersion: v2\nname: s\nversion: 1.0.0\n')
    writeFileSync(join(dir, 's/values.schema.json'), chart.schema)
    writeFileSync(join(dir, 'v'), chart.values)
    return await new Promise((resolve) => {
      execFile(binary, ['template', join(dir, 's'), '-f', join(dir, 'v')], (_error, _out, stderr) =>
        resolve(stderr.slice(Math.max(0, stderr.search(/^Error: /m)))),
      )
    })
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

for (const version of ['helm4', 'helm3'] as const) {
  const binary = findBinary(version === 'helm4' ? 'helm' : 'helm3')
  const skip = binary === undefined ? `no binary for ${version}` : false

  test(`${version}: schemas are met and broken as in helm`, { skip }, async () => {
    const different: string[] = []
    for (const [schema, values, only] of CASES) {
      if (only !== undefined && only !== version) continue
      const wanted = schemaLines(await real({ schema, values }, binary!))
      const got = schemaLines(ours({ schema, values }, version))
      if (wanted !== got) different.push(`${schema}\n${values}\nhelm ${wanted}\nours ${got}`)
    }
    assert.equal(different.join('\n\n'), '')
  })

  test(`${version}: formats are those of helm`, { skip }, async () => {
    const different: string[] = []
    const values = SAMPLES.map((text, at) => `s${at}: ${JSON.stringify(text)}\n`).join('')
    for (const format of FORMATS) {
      const schema = `{${DRAFT_7},"additionalProperties":{"format":"${format}"}}`
      const places = (report: string) =>
        [...report.matchAll(/^- (?:at '\/)?s(\d+)/gm)].map((match) => JSON.stringify(SAMPLES[Number(match[1])])).sort()
      const wanted = new Set(places(await real({ schema, values }, binary!)))
      const got = new Set(places(ours({ schema, values }, version)))
      const [missing, extra] = [wanted.difference(got), got.difference(wanted)]
      if (missing.size + extra.size > 0)
        different.push(`${format}: helm refuses ${[...missing].join()}; ours refuses ${[...extra].join()}`)
    }
    assert.deepEqual(different, [])
  })
}
