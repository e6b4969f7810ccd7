// Tested by src/dialects/ocm/policy/recorded.contract.test.ts.
/** Go's templates as the evaluation of policies uses them: plain values in, plain values out. */
import { readFirstYaml } from '../../yaml/read/read-yaml.ts'
import { YamlError } from '../../yaml/yaml.ts'
import type { Entropy } from '../helm/frozen-random.ts'
import type { TemplateObjects } from './cluster-lookup.ts'
import { executeMessage } from './message-template.ts'
import { objectContext, PolicyTemplateError, resolveText, resolveValue } from './resolve-template.ts'
import type { TemplateSetting } from './resolve-template.ts'
import { skipFunction } from './template-functions.ts'

type Context = NonNullable<Parameters<typeof objectContext>[0]>

/** A resolved template, or why it cannot be resolved. */
type Answer =
  | { readonly value: unknown; readonly skips: boolean; readonly readsSecrets: boolean }
  | { readonly error: string; readonly skips: boolean }

/** Templates that read the given objects. */
export function templateEngine(objects: TemplateObjects, entropy: Entropy) {
  const run = (context: Context | undefined, act: (setting: TemplateSetting) => unknown): Answer => {
    const { fun, skips } = skipFunction()
    let readsSecrets = false
    const setting: TemplateSetting = {
      scope: { objects, remembersMissing: true, onSecret: () => void (readsSecrets = true) },
      entropy,
      context: objectContext(context),
      ...(context && { functions: { skipObject: fun } }),
    }
    try {
      return { value: act(setting), skips: skips(), readsSecrets }
    } catch (caught) {
      if (!(caught instanceof PolicyTemplateError)) throw caught
      return { error: caught.message, skips: skips() }
    }
  }
  return {
    resolve: (definition: unknown, context: Context): Answer =>
      run(context, (setting) => resolveValue(definition, setting)),
    resolveText: (text: string): Answer => run(undefined, (setting) => resolveText(text, setting)),
    readYaml,
    message: (template: string, data: Record<string, unknown>) => executeMessage(template, data, entropy),
  }
}

function readYaml(text: string): { readonly value: unknown } | { readonly error: string } {
  try {
    return { value: readFirstYaml(text, { duplicateKeys: 'last', integer: (whole) => whole }).value }
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    return { error: `error converting YAML to JSON: ${caught.goMessage}` }
  }
}
