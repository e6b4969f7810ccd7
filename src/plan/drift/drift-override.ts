/** The Override with which a person accepts or reverts the drift of a bundle on one cluster. */
import { compact } from '../../core/compact.ts'
import { smallSha256 } from '../../core/crypto/small-sha256.ts'
import { canonicalJson } from '../../core/json.ts'
import { formatTime } from '../../core/time/time.ts'
import type { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { Override } from '../../kinds/native/override.ts'

/** The field manager of these Overrides, the same in CLI and console, so that each can change what the other wrote. */
export const DRIFT_MANAGER = 'flotilla-cli'

export type DriftedBundle = ClusterReport['spec']['bundles'][number]
type Drift = NonNullable<DriftedBundle['drift']>[number]

export interface DriftDecision {
  readonly verb: 'accept' | 'revert'
  readonly cluster: string
  /** User who decides. */
  readonly owner: string
  readonly reason: string
  readonly nowMs: number
  /** Lifetime of an Override that accepts. If omitted, until it is deleted. */
  readonly forMs?: number | undefined
}

/** Long enough for an agent that is offline for a moment. Afterwards the drift settings of the Bundle apply again. */
const REVERT_MS = 3_600_000

/** The Override of a decision, or the field that an Override cannot name. */
export function driftOverride(
  row: Pick<DriftedBundle, 'bundle' | 'drift'>,
  { verb, cluster, owner, reason, nowMs, forMs }: DriftDecision,
): Override | { readonly unnameable: string } {
  const drifts = row.drift ?? []
  const unnameable =
    verb === 'accept' ? drifts.flatMap(({ fields }) => fields).find((field) => !isNameable(field)) : undefined
  if (unnameable !== undefined) return { unnameable }
  const [namespace = '', bundle = ''] = row.bundle.split('/')
  const endsInMs = verb === 'revert' ? REVERT_MS : forMs
  return {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'Override',
    metadata: {
      name: `${verb}-${bundle.slice(0, 100)}-${cluster.slice(0, 100)}-${markOf(verb === 'accept' ? [bundle, cluster, verb, ...fieldsOf(drifts)] : [bundle, cluster, verb])}`,
      namespace,
    },
    spec: {
      bundle,
      clusters: [cluster],
      owner,
      reason,
      drift: drifts.map((drift) => ({
        ...objectOf(drift),
        ...(verb === 'accept'
          ? { action: 'Accept' as const, fields: drift.fields.map(pathOf) }
          : { action: 'Revert' as const }),
      })),
      ...compact({ expiresAt: endsInMs === undefined ? undefined : formatTime(nowMs + endsInMs) }),
    },
  }
}

/** A later acceptance of other fields is another Override, so that it does not take this one back. */
function fieldsOf(drifts: readonly Drift[]): string[] {
  return drifts.flatMap(({ object, fields }) => fields.map((field) => `${object} ${pathOf(field)}`)).toSorted()
}

/** Eight digits that tell names apart which are equal after they were cut. The console has no other SHA-256. */
function markOf(parts: readonly string[]): string {
  const digest = smallSha256(new TextEncoder().encode(canonicalJson(parts)))
  const bytes = Array.from(digest.subarray(0, 4), (byte) => byte.toString(16).padStart(2, '0'))
  return bytes.join('')
}

/** `ConfigMap shop/greeting`, or without a namespace `ClusterRole reader`. */
function objectOf({ object }: Drift): { kind: string; name: string; namespace?: string } {
  const [kind = '', address = ''] = object.split(' ')
  const slash = address.indexOf('/')
  return slash < 0
    ? { kind, name: address }
    : { kind, name: address.slice(slash + 1), namespace: address.slice(0, slash) }
}

/** `.spec.containers[name=web].image (changed by x)` as a path of `flotilla.dev/ignore`. */
function pathOf(field: string): string {
  return field.replace(/ \(changed by .*\)$/, '').replaceAll(/\[name=([^\]]+)\]/g, '[?(@.name=="$1")]')
}

/** Not so for a deleted object, whose field is `.`, and for names with blanks or commas. */
function isNameable(field: string): boolean {
  const path = pathOf(field)
  return path !== '.' && !/[\s,]/.test(path)
}
