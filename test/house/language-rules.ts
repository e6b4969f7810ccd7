/** Rules about the English of descriptions: plain technical sentences that are understood alone. */
import type { Kind } from '../../src/kinds/define-kind.ts'
import type { StructuralSchema } from '../../src/kinds/schema/structural.ts'

const UNNAMED_SUBJECT = /^(It|Which|What|How|Whether|Who|So|That)\b/
const RIDDLES = /\b(somebody|nobody|anybody|everybody|whoever|unless said|so many|such a)\b/i

/** What a description says that a reader without context cannot understand. */
export function textProblems(text: string): string[] {
  const begin = UNNAMED_SUBJECT.exec(text)?.[0]
  const riddle = RIDDLES.exec(text)?.[0]
  return [
    ...(begin === undefined ? [] : [`begins with "${begin}": begin with a noun phrase`]),
    ...(riddle === undefined ? [] : [`contains "${riddle}": name the actor or the number`]),
    ...(/[.)]$/.test(text) ? [] : ['does not end with a full stop']),
  ]
}

/** Descriptions of a kind that break a rule, each with its place. */
export function descriptionProblems(kind: Kind): string[] {
  const fields = Object.entries(kind.schema.properties ?? {}).filter(
    ([field]) => !['apiVersion', 'kind', 'metadata'].includes(field),
  )
  const columns = kind.columns.flatMap(({ name, description }) =>
    description === undefined ? [] : textProblems(description).map((problem) => `column ${name} ${problem}`),
  )
  return [
    ...textProblems(kind.description).map((problem) => `the kind ${problem}`),
    ...columns,
    ...fields.flatMap(([field, schema]) => fieldProblems(schema, field)),
  ].map((problem) => `${kind.kind}: ${problem}`)
}

function fieldProblems(schema: StructuralSchema, path: string): string[] {
  const { description, items } = schema
  const own =
    description === undefined
      ? [`${path} has no description`]
      : textProblems(description).map((problem) => `${path} ${problem}`)
  const hasUnsaidDefault = schema.default !== undefined && !/\bDefaults to\b/.test(description ?? '')
  const values = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
  return [
    ...own,
    ...(hasUnsaidDefault ? [`${path} has a default: say "Defaults to ${JSON.stringify(schema.default)}."`] : []),
    ...childProblems(schema, path),
    ...(items ? childProblems(items, `${path}[]`) : []),
    ...(values ? childProblems(values, `${path}{}`) : []),
  ]
}

function childProblems(schema: StructuralSchema, path: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => fieldProblems(field, `${path}.${name}`))
}
