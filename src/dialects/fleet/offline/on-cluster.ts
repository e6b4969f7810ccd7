// Tested by src/cli/commands/fleet/fleet.contract.test.ts
/** A Bundle of Fleet for a cluster that exists in the flags of a command alone. */
import type { UnknownObject } from '../../../kinds/meta.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { Finding } from '../../read-fields.ts'
import { bundleObject } from '../compile/read-git-repo.ts'
import { matchesAlternative, resolveTarget } from '../compile/targets.ts'
import type { Workspace } from '../compile/targets.ts'
import { compileWrittenBundle } from '../compile-written-bundle.ts'
import type { WrittenBundle } from '../compile-written-bundle.ts'
import type { FleetBundle } from '../kinds.ts'

/** The cluster of `fleet test`. */
export interface TestCluster {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly group?: string
  readonly groupLabels: Readonly<Record<string, string>>
  /** The target of this name matches, whatever its criteria. */
  readonly target?: string
}

/** What the cluster would render; undefined if no target selects it. */
export interface OnCluster {
  readonly bundle: Bundle
  readonly labels: Readonly<Record<string, string>>
  readonly files: ReadonlyMap<string, Uint8Array>
}

/** A Bundle that cannot be delivered, with the reason. */
export class BundleProblem extends Error {
  override name = 'BundleProblem'
}

/** A label that templates do not see: clusters with it are in the group of the flags. */
const IN_GROUP = 'internal.cattle.io/test-group'

/** Compiles a Bundle. Throws BundleProblem. */
export function compileOrThrow(
  bundle: FleetBundle,
  workspace: Parameters<typeof compileWrittenBundle>[1],
): WrittenBundle {
  const findings: Finding[] = []
  const written = compileWrittenBundle(bundle, workspace, findings)
  const wrong = findings.find(({ level }) => level === 'error')
  if (written && !wrong) return written
  throw new BundleProblem(`bundle ${bundle.metadata.name}: ${wrong?.message ?? 'it has no content'}`)
}

/** Whether a target of a Bundle selects a cluster. */
export function isSelected(
  { targets }: WrittenBundle,
  cluster: { readonly name: string; readonly labels: Readonly<Record<string, string>> },
  workspace: Workspace,
): boolean {
  return targets.some((target) => {
    const meaning = resolveTarget(target, workspace)
    return 'alternatives' in meaning && meaning.alternatives.some((one) => matchesAlternative(one, cluster))
  })
}

/** What the cluster would render; undefined if no target selects it. Throws BundleProblem. */
export function onCluster(
  object: UnknownObject,
  { name, labels, group, groupLabels, target }: TestCluster,
): OnCluster | undefined {
  const bundle = object as unknown as FleetBundle
  const isInGroup = group !== undefined || Object.keys(groupLabels).length > 0
  const groups = isInGroup
    ? [{ name: group ?? 'test', labels: groupLabels, selector: { matchLabels: { [IN_GROUP]: 'true' } } }]
    : []
  const workspace = { groups, aliases: () => [], clusters: [], bundles: [], isWhole: false }
  const written = compileOrThrow(target === undefined ? bundle : withTarget(bundle, target), workspace)
  const all = { ...labels, ...(isInGroup && { [IN_GROUP]: 'true' }) }
  if (!isSelected(written, { name, labels: all }, workspace)) return undefined
  return {
    bundle: bundleObject(written.compiled, bundle.metadata.namespace ?? 'fleet-default'),
    labels: all,
    files: new Map(written.files.map(({ path }) => [path, written.bytesOf(path) ?? new Uint8Array()])),
  }
}

interface NamedTarget {
  readonly name?: string
}

/** The Bundle as if the cluster matched the target of this name, and no other. */
function withTarget(bundle: FleetBundle, name: string): FleetBundle {
  const { targets = [], targetRestrictions: _restrictions, ...spec } = bundle.spec
  const all = targets as readonly NamedTarget[]
  const own = all.find((one) => one.name === name)
  if (!own) {
    const names = all.flatMap((one) => one.name ?? []).join(', ')
    throw new BundleProblem(`no target ${name}: bundle ${bundle.metadata.name} has the targets ${names || 'none'}`)
  }
  const criteria = { clusterName: undefined, clusterGroup: undefined, clusterGroupSelector: undefined }
  const chosen = JSON.parse(JSON.stringify({ ...own, ...criteria, clusterSelector: {} })) as object
  return { ...bundle, spec: { ...spec, targets: [chosen] } }
}
