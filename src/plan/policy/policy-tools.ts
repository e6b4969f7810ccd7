// Tested by src/dialects/ocm/policy/recorded.contract.test.ts.
/** Go's templates for the evaluation, over an engine that comes in as an argument and knows plain values only. */
import { goJson } from '../../yaml/go-json.ts'
import { goValue } from './go-value.ts'
import type { GoObject } from './go-value.ts'
import type { ObjectContext, PolicyTools, Resolved } from './policy-ports.ts'

type Plain = Record<string, unknown>
type Answer =
  | { readonly value: unknown; readonly skips: boolean; readonly readsSecrets: boolean }
  | { readonly error: string; readonly skips: boolean }

/** A template engine over plain JSON values. */
export interface TemplateEngine {
  resolve(definition: unknown, context: Omit<ObjectContext, 'object'> & { readonly object?: Plain }): Answer
  resolveText(text: string): Answer
  readYaml(text: string): { readonly value: unknown } | { readonly error: string }
  message(template: string, data: Plain): { readonly text: string } | { readonly error: string }
}

/** The templates of an engine with values as Go holds them. */
export function policyTools(engine: TemplateEngine): PolicyTools {
  const resolved = (answer: Answer): Resolved =>
    'error' in answer ? answer : { ...answer, value: goValue(answer.value) }
  return {
    resolve: (definition, { object, ...rest }) =>
      resolved(engine.resolve(definition, { ...rest, ...(object && { object: plainObject(object) }) })),
    resolveText: (text) => resolved(engine.resolveText(text)),
    readYaml: (text) => {
      const read = engine.readYaml(text)
      return 'error' in read ? read : { value: goValue(read.value) }
    },
    message: (template, data) => engine.message(template, plainObject(data)),
  }
}

/** An object as plain JSON. */
export function plainObject(object: GoObject): Plain {
  return JSON.parse(goJson(object)) as Plain
}
