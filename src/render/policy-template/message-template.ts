/** Messages of a policy that its author wrote as a template. */
import type { JsonObject } from '../../core/json.ts'
import { executeTemplate } from '../gotemplate/exec.ts'
import { TemplateExecError } from '../gotemplate/exec-options.ts'
import { parseTemplate, TemplateParseError } from '../gotemplate/parse.ts'
import type { Entropy } from '../helm/frozen-random.ts'
import { goMap } from './go-object.ts'
import { DENIED, sprigFunctions } from './template-functions.ts'

const MOST_STEPS = 100_000

/** The text of a message, or why it cannot be made. */
export function executeMessage(
  template: string,
  data: JsonObject,
  entropy: Entropy,
): { readonly text: string } | { readonly error: string } {
  const functions = sprigFunctions(entropy)
  for (const name of DENIED) functions.delete(name)
  let steps = 0
  try {
    const trees = parseTemplate('custom-msg', template, (name) => functions.has(name))
    const text = executeTemplate(trees.get('custom-msg')!, goMap(data), {
      template: (name) => trees.get(name),
      functions,
      missingKey: 'invalid',
      step: () => {
        if (++steps > MOST_STEPS) throw new TemplateExecError(`the message takes more than ${MOST_STEPS} steps`)
      },
    })
    return { text }
  } catch (caught) {
    if (caught instanceof TemplateParseError) return { error: `failed to parse custom template: ${caught.message}` }
    if (caught instanceof TemplateExecError) return { error: `failed to execute: ${caught.message}` }
    throw caught
  }
}
