// Tested by src/dialects/ocm/policy/recorded.contract.test.ts.
/** Go's templates and patterns for the evaluation of policies. */
import { goJson } from '../../../yaml/go-json.ts'
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import { goValue } from '../../../plan/policy/go-value.ts'
import type { GoObject, GoValue } from '../../../plan/policy/go-value.ts'
import type { ObjectContext, PolicyTools, Resolved } from '../../../plan/policy/policy-ports.ts'
import type { Entropy } from '../../../render/helm/frozen-random.ts'
import { executeMessage } from '../../../render/policy-template/message-template.ts'
import type { TemplateObjects } from '../../../render/policy-template/cluster-lookup.ts'
import {
  objectContext,
  PolicyTemplateError,
  resolveText,
  resolveValue,
} from '../../../render/policy-template/resolve-template.ts'
import type { TemplateSetting } from '../../../render/policy-template/resolve-template.ts'
import { skipFunction } from '../../../render/policy-template/template-functions.ts'

/** Templates that read the given objects. */
export function policyTools(objects: TemplateObjects, entropy: Entropy): PolicyTools {
  const run = (context: ObjectContext | undefined, act: (setting: TemplateSetting) => unknown): Resolved => {
    const { fun, skips } = skipFunction()
    let readsSecrets = false
    const setting: TemplateSetting = {
      scope: { objects, remembersMissing: true, onSecret: () => void (readsSecrets = true) },
      entropy,
      context: objectContext(context && plainContext(context)),
      ...(context && { functions: { skipObject: fun } }),
    }
    try {
      return { value: goValue(act(setting)), skips: skips(), readsSecrets }
    } catch (caught) {
      if (!(caught instanceof PolicyTemplateError)) throw caught
      return { error: caught.message, skips: skips() }
    }
  }
  return {
    resolve: (definition, context) => run(context, (setting) => resolveValue(definition, setting)),
    resolveText: (text) => run(undefined, (setting) => resolveText(text, setting)),
    readYaml,
    message: (template, data) => executeMessage(template, plain(data) as Record<string, unknown>, entropy),
  }
}

function plainContext({ object, ...rest }: ObjectContext): Parameters<typeof objectContext>[0] {
  return { ...rest, ...(object && { object: plain(object) as Record<string, unknown> }) }
}

function plain(value: GoObject): unknown {
  return JSON.parse(goJson(value))
}

function readYaml(text: string): { readonly value: GoValue } | { readonly error: string } {
  try {
    return { value: goValue(readFirstYaml(text, { duplicateKeys: 'last', integer: (whole) => whole }).value) }
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    return { error: `error converting YAML to JSON: ${caught.goMessage}` }
  }
}
