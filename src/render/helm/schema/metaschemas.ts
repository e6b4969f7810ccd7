/** What schemas themselves must look like, per draft, in the parts that Helm 4's validator reports in. */
import { readJson } from '../functions/go/read-json.ts'
import type { Draft } from './helm4-validator.ts'

const TYPES = '["array","boolean","integer","null","number","object","string"]'
const TEXT = '{"type":"string"}'
const NUMBER = '{"type":"number"}'
const FLAG = '{"type":"boolean"}'
const COUNT = '{"type":"integer","minimum":0}'
/** With a default, which the older drafts could only say in a schema of its own. */
const COUNT_FROM_0 = `{"allOf":[${COUNT},{"default":0}]}`
const REFERENCE = '{"type":"string","format":"uri-reference"}'
const PATTERN = '{"type":"string","format":"regex"}'
const SELF = '{"$ref":"#"}'
const SELVES = `{"type":"array","minItems":1,"items":${SELF}}`
const TABLE = `{"type":"object","additionalProperties":${SELF}}`
const NAMES = '{"type":"array","items":{"type":"string"},"uniqueItems":true}'
const PATTERNS = `{"type":"object","additionalProperties":${SELF},"propertyNames":{"format":"regex"}}`
const STEP = '{"type":"number","exclusiveMinimum":0}'
const TYPE = `{"anyOf":[{"enum":${TYPES}},{"type":"array","items":{"enum":${TYPES}},"minItems":1,"uniqueItems":true}]}`

/** `key: value` lines as the members of an object. */
function members(keys: Readonly<Record<string, string>>): string {
  return Object.entries(keys)
    .map(([names, value]) =>
      names
        .split(' ')
        .map((name) => `"${name}":${value}`)
        .join(','),
    )
    .join(',')
}

const DRAFT_4 = `{"type":"object","properties":{${members({
  'id $schema': TEXT,
  'title description': TEXT,
  multipleOf: '{"type":"number","minimum":0,"exclusiveMinimum":true}',
  'maximum minimum': NUMBER,
  'exclusiveMaximum exclusiveMinimum uniqueItems': FLAG,
  'maxLength maxItems maxProperties': COUNT,
  'minLength minItems minProperties': COUNT_FROM_0,
  pattern: PATTERN,
  'additionalItems additionalProperties': `{"anyOf":[${FLAG},${SELF}]}`,
  items: `{"anyOf":[${SELF},${SELVES}]}`,
  required: '{"type":"array","minItems":1,"items":{"type":"string"},"uniqueItems":true}',
  'definitions properties patternProperties': TABLE,
  dependencies: `{"type":"object","additionalProperties":{"anyOf":[${SELF},{"type":"array","minItems":1,"items":{"type":"string"},"uniqueItems":true}]}}`,
  enum: '{"type":"array"}',
  type: TYPE,
  format: TEXT,
  'allOf anyOf oneOf': SELVES,
  not: SELF,
})}},"dependencies":{"exclusiveMaximum":["maximum"],"exclusiveMinimum":["minimum"]}}`

function draft6(more: Readonly<Record<string, string>>): string {
  return `{"type":["object","boolean"],"properties":{${members({
    '$id $ref': REFERENCE,
    $schema: '{"type":"string","format":"uri"}',
    'title description format': TEXT,
    multipleOf: STEP,
    'maximum exclusiveMaximum minimum exclusiveMinimum': NUMBER,
    'maxLength maxItems maxProperties': COUNT,
    'minLength minItems minProperties': COUNT_FROM_0,
    pattern: PATTERN,
    'additionalItems contains additionalProperties propertyNames not': SELF,
    items: `{"anyOf":[${SELF},${SELVES}]}`,
    uniqueItems: FLAG,
    required: NAMES,
    'definitions properties': TABLE,
    patternProperties: PATTERNS,
    dependencies: `{"type":"object","additionalProperties":{"anyOf":[${SELF},${NAMES}]}}`,
    enum: '{"type":"array","items":true}',
    examples: '{"type":"array","items":true}',
    type: TYPE,
    'allOf anyOf oneOf': SELVES,
    ...more,
  })}}}`
}

const DRAFT_7 = draft6({
  'if then else': SELF,
  readOnly: FLAG,
  '$comment contentMediaType contentEncoding': TEXT,
})

/** A vocabulary of the newer drafts. */
function vocabulary(keys: Readonly<Record<string, string>>): string {
  return `{"type":["object","boolean"],"properties":{${members(keys)}}}`
}

const VALIDATION = vocabulary({
  type: TYPE,
  enum: '{"type":"array","items":true}',
  multipleOf: STEP,
  'maximum exclusiveMaximum minimum exclusiveMinimum': NUMBER,
  'maxLength minLength maxItems minItems maxContains minContains maxProperties minProperties': COUNT,
  pattern: PATTERN,
  uniqueItems: FLAG,
  required: NAMES,
  dependentRequired: `{"type":"object","additionalProperties":${NAMES}}`,
})
const META_DATA = vocabulary({
  'title description': TEXT,
  'deprecated readOnly writeOnly': FLAG,
  examples: '{"type":"array","items":true}',
})
const FORMAT = vocabulary({ format: TEXT })
const CONTENT = vocabulary({ 'contentMediaType contentEncoding': TEXT, contentSchema: SELF })
const DEPENDENCIES = `{"type":"object","additionalProperties":{"anyOf":[${SELF},${NAMES}]}}`

function newer(vocabularies: readonly string[]): string {
  const own = members({ definitions: TABLE, dependencies: DEPENDENCIES })
  const refs = vocabularies.map((_, at) => `{"$ref":"#/$defs/${at}"}`)
  const defs = vocabularies.map((text, at) => `"${at}":${text}`)
  return `{"type":["object","boolean"],"allOf":[${refs.join(',')}],"properties":{${own}},"$defs":{${defs.join(',')}}}`
}

const APPLICATOR = {
  'additionalProperties if then else not contains propertyNames': SELF,
  'properties dependentSchemas': TABLE,
  patternProperties: PATTERNS,
  'allOf anyOf oneOf': SELVES,
}

const DRAFT_2019 = newer([
  vocabulary({
    $id: '{"type":"string","format":"uri-reference","pattern":"^[^#]*#?$"}',
    $schema: '{"type":"string","format":"uri"}',
    $anchor: '{"type":"string","pattern":"^[A-Za-z][-A-Za-z0-9.:_]*$"}',
    '$ref $recursiveRef': REFERENCE,
    $recursiveAnchor: FLAG,
    $comment: TEXT,
    $defs: TABLE,
  }),
  vocabulary({
    ...APPLICATOR,
    'additionalItems unevaluatedItems unevaluatedProperties': SELF,
    items: `{"anyOf":[${SELF},${SELVES}]}`,
  }),
  VALIDATION,
  META_DATA,
  FORMAT,
  CONTENT,
])

const ANCHOR = '{"type":"string","pattern":"^[A-Za-z_][-A-Za-z0-9._]*$"}'
const DRAFT_2020 = newer([
  vocabulary({
    $id: '{"type":"string","format":"uri-reference","pattern":"^[^#]*#?$"}',
    $schema: '{"type":"string","format":"uri"}',
    '$ref $dynamicRef': REFERENCE,
    '$anchor $dynamicAnchor': ANCHOR,
    $comment: TEXT,
    $defs: TABLE,
  }),
  vocabulary({ ...APPLICATOR, prefixItems: SELVES, items: SELF }),
  vocabulary({ 'unevaluatedItems unevaluatedProperties': SELF }),
  VALIDATION,
  META_DATA,
  FORMAT,
  CONTENT,
])

const TEXTS: Readonly<Record<Draft, string>> = {
  4: DRAFT_4,
  6: draft6({}),
  7: DRAFT_7,
  2019: DRAFT_2019,
  2020: DRAFT_2020,
}

const ADDRESSES: Readonly<Record<Draft, string>> = {
  4: 'http://json-schema.org/draft-04/schema#',
  6: 'http://json-schema.org/draft-06/schema#',
  7: 'http://json-schema.org/draft-07/schema#',
  2019: 'https://json-schema.org/draft/2019-09/schema#',
  2020: 'https://json-schema.org/draft/2020-12/schema#',
}

/** The schema of a draft's schemas. */
export function metaschemaOf(draft: Draft): unknown {
  return readJson(TEXTS[draft])
}

/** Its address. */
export function metaschemaUrl(draft: Draft): string {
  return ADDRESSES[draft]
}
