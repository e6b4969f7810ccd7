// Tested by src/dialects/karmada/interpret/custom/custom-kinds.test.ts
/** The policies of Kyverno, as Karmada's bundled interpreters read them. */
import { compact } from '../../../../core/compact.ts'
import type { JsonObject } from '../../../../core/json.ts'
import { countIn, mapIn } from '../shape.ts'
import type { InterpretedObject, StatusItem } from '../shape.ts'
import { hasCondition, lastOf, mergeConditions, pick } from './custom-kind.ts'
import type { CustomKind } from './custom-kind.ts'

const RULES = ['generate', 'mutate', 'validate', 'verifyimages']

const POLICY: CustomKind = {
  healthy: (object) => {
    const { ready } = mapIn(object['status'])
    return typeof ready === 'boolean' ? ready : hasCondition(object, 'Ready', 'True', 'Succeeded')
  },
  status: ({ status }) => pick(status, ['autogen', 'conditions', 'ready', 'rulecount']),
  aggregate,
}

/** The rules of all clusters are counted together. A policy without a cluster stays as it is. */
function aggregate(object: InterpretedObject, items: readonly StatusItem[]): InterpretedObject {
  if (items.length === 0) return object
  const counts = items.map(({ status }) => mapIn(status, 'rulecount'))
  const status: JsonObject = compact({
    autogen: lastOf(items, 'autogen'),
    conditions: mergeConditions(items),
    ready: lastOf(items, 'ready'),
    rulecount: Object.fromEntries(
      RULES.map((rule) => [rule, counts.reduce((sum, count) => sum + countIn(count, rule), 0)]),
    ),
  })
  return { ...object, status }
}

/** By apiVersion and kind. */
export const KYVERNO_KINDS: Readonly<Record<string, CustomKind>> = {
  'kyverno.io/v1 ClusterPolicy': POLICY,
  'kyverno.io/v1 Policy': POLICY,
}
