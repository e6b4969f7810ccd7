// Tested by src/controllers/bundle-render/reconcile.test.ts
/** The condition Linted: findings about the released content. Lint never stops a Release. */
import { fromUtf8 } from '../../core/bytes.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { Draft } from '../../engine/reconciler.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Finding } from '../../plan/lint/finding.ts'
import { lintContents } from '../../plan/lint/lint-objects.ts'
import { lintOverlap } from '../../plan/lint/lint-overlap.ts'
import type { PlacedContent } from '../../plan/lint/lint-overlap.ts'
import { objectKey } from '../../plan/objects/object-id.ts'
import type { ExistingRelease } from '../../plan/release/decide-release.ts'
import { contentFor } from '../../plan/release/variants.ts'
import { parseObjectSet } from '../../wire/document/signed-document.ts'
import type { SelectedCluster } from '../../plan/release/release-content.ts'
import type { BundleRenderPorts } from './ports.ts'

/** Takes about a tenth of a second; more variants mostly repeat the same findings. */
const MOST_OBJECTS = 5000
/** Clusters with the same content mostly have the same other Bundles as well. */
const MOST_CLUSTERS = 8
const MOST_SHOWN = 5
const MOST_CHARACTERS = 4096

/** The ports of lint. */
export interface LintPorts extends Pick<BundleRenderPorts, 'getBlob' | 'assignedTo'> {
  /** The digests of a set's objects by object key; empty when the set is no longer stored, undefined for a recipe. */
  entriesOf(set: Digest): Promise<ReadonlyMap<string, Digest> | undefined>
}

const MOST_KEPT = 4096

/** Reads sets and caches them: each Bundle of a cluster is compared with the same sets. */
export function lintPorts({ getBlob, assignedTo }: Pick<BundleRenderPorts, 'getBlob' | 'assignedTo'>): LintPorts {
  const kept = new Map<Digest, ReadonlyMap<string, Digest> | undefined>()
  return {
    getBlob: (digest) => getBlob(digest),
    assignedTo: (cluster) => assignedTo(cluster),
    entriesOf: async (set) => {
      if (kept.has(set)) return kept.get(set)
      const bytes = await getBlob(set)
      const found = bytes && parseObjectSet(bytes)
      const entries = found?.render
        ? undefined
        : new Map(found?.objects.map((entry) => [objectKey(entry), entry.digest]))
      if (kept.size >= MOST_KEPT) kept.clear()
      kept.set(set, entries)
      return entries
    },
  }
}

/** Sets `Linted` for a Release, again only when the Release or the Kubernetes versions of its clusters changed. */
export async function showLint(
  { next, conditions }: Draft<Bundle>,
  release: ExistingRelease,
  selected: readonly SelectedCluster[],
  ports: LintPorts,
): Promise<void> {
  const status = (next.status ??= {})
  const seen = `${release.name} ${minorsOf(selected).join(' ')}`.trimEnd().slice(0, 512)
  if (status.linted === seen && conditions.get('Linted')) return
  const contents = await contentsOf(release, selected, ports)
  if (contents.length === 0) {
    // No cluster gets the content, or only the clusters know its objects: findings about older content are no longer
    // true.
    delete status.linted
    conditions.remove('Linted')
    return
  }
  // A set that is no longer stored has no findings.
  if (contents.every(({ objects }) => objects.length === 0)) return
  status.linted = seen
  const found = [...findingsOf(contents), ...(await overlapsOf(keyOf(next), contents, ports))]
  if (found.length === 0) {
    return conditions.set('Linted', 'True', 'LintPassed', 'Lint has no findings in the rendered objects.')
  }
  const errors = found.filter(({ severity }) => severity === 'error')
  const ordered = [...errors, ...found.filter(({ severity }) => severity !== 'error')]
  const shown = ordered
    .slice(0, MOST_SHOWN)
    .map(({ message, todo, check }) => `${message}${todo === undefined ? '' : `; ${todo}`} [${check}]`)
  const more = ordered.length > MOST_SHOWN ? ` … and ${ordered.length - MOST_SHOWN} more.` : ''
  const reason = errors.length > 0 ? 'ErrorsFound' : 'WarningsFound'
  conditions.set('Linted', 'False', reason, `${shown.join('. ')}.${more}`.slice(0, MOST_CHARACTERS))
}

/** Minor versions of Kubernetes like `1.36`, each once. */
function minorsOf(selected: readonly SelectedCluster[]): string[] {
  const minors = selected.flatMap(({ inputs }) => /^v?(\d+\.\d+)/.exec(inputs.kubeVersion ?? '')?.[1] ?? [])
  return [...new Set(minors)].sort()
}

interface Content {
  readonly set: Digest
  readonly clusters: readonly SelectedCluster['inputs'][]
  readonly objects: readonly UnknownObject[]
}

/** Each distinct content with its clusters; without selected clusters, the first content. */
async function contentsOf(
  release: ExistingRelease,
  selected: readonly SelectedCluster[],
  ports: LintPorts,
): Promise<Content[]> {
  const bySet = new Map<Digest, SelectedCluster['inputs'][]>()
  if (selected.length === 0) bySet.set(release.set, [])
  for (const { inputs } of selected) {
    const content = contentFor(release, inputs)
    if (content.kind !== 'Set') continue
    const known = bySet.get(content.set)
    if (known) known.push(inputs)
    else bySet.set(content.set, [inputs])
  }
  const contents: Content[] = []
  let left = MOST_OBJECTS
  for (const [set, clusters] of bySet) {
    if (left <= 0) break
    const objects = await objectsOfSet(set, ports, left)
    if (!objects) continue
    left -= objects.length
    contents.push({ set, clusters, objects })
  }
  return contents
}

/** The first objects of a set; undefined for a recipe. */
export async function objectsOfSet(set: Digest, ports: LintPorts, most: number): Promise<UnknownObject[] | undefined> {
  const entries = await ports.entriesOf(set)
  if (!entries) return undefined
  const objects: UnknownObject[] = []
  for (const digest of [...entries.values()].slice(0, most)) {
    const object = await readObject(digest, ports)
    if (object) objects.push(object)
  }
  return objects
}

async function readObject(digest: Digest, { getBlob }: LintPorts): Promise<UnknownObject | undefined> {
  const bytes = await getBlob(digest)
  return bytes && (JSON.parse(fromUtf8(bytes)) as UnknownObject)
}

function findingsOf(contents: readonly Content[]): Finding[] {
  const lintable = contents.map(({ objects, clusters }) => ({
    objects,
    clusters: clusters.map(({ name, kubeVersion }) => ({ name, kubeVersion })),
  }))
  // An object of a custom kind without a known schema is no mistake.
  return lintContents(lintable).flatMap(({ found }) => (found.severity === 'note' ? [] : [found]))
}

/** Objects that other Bundles have on the same clusters; one cluster of each content is compared. */
async function overlapsOf(bundle: string, contents: readonly Content[], ports: LintPorts): Promise<Finding[]> {
  const placed: PlacedContent[] = []
  const seen = new Set<string>()
  for (const { set, clusters, objects } of contents.slice(0, MOST_CLUSTERS)) {
    const cluster = clusters[0]?.name
    if (cluster === undefined) continue
    for (const other of ports.assignedTo(cluster)) {
      if (other.bundle === bundle || seen.has(`${set} ${other.set}`)) continue
      seen.add(`${set} ${other.set}`)
      const entries = await ports.entriesOf(other.set)
      const common = objects.filter((object) => entries?.has(keyOfObject(object)))
      if (!entries || common.length === 0) continue
      const theirs = await Promise.all(common.map((object) => readObject(entries.get(keyOfObject(object))!, ports)))
      placed.push({ bundle, clusters: [cluster], objects: common })
      placed.push({ bundle: other.bundle, clusters: [cluster], objects: theirs.filter((one) => one !== undefined) })
    }
  }
  const found = lintOverlap(placed).filter(({ message }) => message.includes(` in bundle ${bundle} `))
  return [...new Map(found.map((one) => [one.message, one])).values()]
}

function keyOfObject({ apiVersion, kind, metadata }: UnknownObject): string {
  return objectKey({ ...metadata, apiVersion, kind })
}
