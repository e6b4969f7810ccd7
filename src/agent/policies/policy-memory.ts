// Tested by src/agent/policies/policies.contract.test.ts
/**
 * What must survive a restart of the agent about the checks of a bundle: since when a state holds, and which objects an
 * enforced policy created and removes with itself. In the cluster, beside the inventories.
 */
import type { Static } from 'typebox'
import { hex, sha256, utf8 } from '../../core/bytes.ts'
import { Type } from '../../core/schema/typebox.ts'
import type { RelatedObject } from '../../plan/policy/configuration-policy.ts'
import { parseJson } from '../../wire/validate.ts'
import type { AgentObjects } from '../cluster/agent-objects.ts'

const MAX_BYTES = 1024 * 1024

const Remembered = Type.Object({
  state: Type.String(),
  since: Type.String(),
  /** First observation of each violation. */
  objects: Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } }),
  /** `pruneObjectBehavior` of an enforced policy, with its objects. */
  prune: Type.Optional(Type.String()),
  related: Type.Optional(Type.Array(Type.Unsafe<RelatedObject>({ type: 'object' }))),
})
const Memory = Type.Object({
  bundle: Type.String(),
  checks: Type.Unsafe<Record<string, Static<typeof Remembered>>>({ type: 'object', additionalProperties: Remembered }),
})

/** What is remembered of a check. */
export type RememberedCheck = Static<typeof Remembered>
/** The checks of a bundle by `kind/name`. */
export type CheckMemory = Record<string, RememberedCheck>

/** Creates the memory over the agent's ConfigMaps. */
export function createPolicyMemory(objects: AgentObjects) {
  return {
    async readChecks(bundle: string, signal: AbortSignal): Promise<CheckMemory> {
      const text = await objects.read(nameOf(bundle), signal)
      if (text === undefined) return {}
      const { checks } = parseJson(Memory, utf8(text), { what: 'memory of checks', maxBytes: MAX_BYTES })
      return checks
    },
    writeChecks: (bundle: string, checks: CheckMemory): Promise<void> =>
      objects.write(nameOf(bundle), 'checks', { data: { state: JSON.stringify({ bundle, checks }) } }),
    deleteChecks: (bundle: string): Promise<void> => objects.remove(nameOf(bundle)),
  }
}

/** The memory of checks. */
export type PolicyMemory = ReturnType<typeof createPolicyMemory>

function nameOf(bundle: string): string {
  return `flotilla-checks-${hex(sha256(bundle)).slice(0, 16)}`
}
