/** Rows about Releases: ReleaseObject per (release, bundle, set, object). Fields of objects are never in a row. */
import { digestOfJson, isDigest } from '../../core/crypto/digest.ts'
import { compareText } from '../../core/text/compare-text.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { Release } from '../../kinds/native/release.ts'
import { ReleaseObject } from '../../kinds/views/release-object.ts'
import type { ObjectSet } from '../../wire/document/cluster-document.ts'
import { parseObjectSet } from '../../wire/document/signed-document.ts'
import type { ViewReader } from './bundle-rows.ts'
import type { SetReader } from './object-rows.ts'
import type { PositionedRow, RowRange, RowSource } from './row-source.ts'

type SetObject = ObjectSet['objects'][number]
type Released = Release['spec']['bundles'][number]

/** The source of ReleaseObjects. */
export function releaseObjectRows(reads: Pick<ViewReader, 'releases'>, blobs: SetReader): RowSource {
  /** The rows of one set in order; none if its content was collected, or is made in the cluster. */
  async function rowsOf(
    { metadata }: Release,
    { name: bundle, generation }: Released,
    set: string,
  ): Promise<readonly PositionedRow[]> {
    const bytes = isDigest(set) ? await blobs.get(set) : undefined
    if (!bytes) return []
    const { objects, render } = parseObjectSet(bytes)
    if (render) return []
    const { name: release, namespace = '' } = metadata
    return objects
      .map((object) => ({
        at: [namespace, release, bundle, set, positionOf(object)],
        // A change of the bundle touches the row; no change of a cluster does.
        of: [namespace, bundle, ''],
        object: {
          apiVersion: apiVersionOf(ReleaseObject),
          kind: ReleaseObject.kind,
          metadata: {
            name: `${release}.${bundle}.${markOf([set])}.${object.kind.toLowerCase()}-${markOf(idOf(object))}`,
            namespace,
            labels: { 'flotilla.dev/release': release, 'flotilla.dev/bundle': bundle },
          },
          release,
          bundle,
          generation,
          set,
          object: withoutHook(object),
        },
      }))
      .toSorted((a, b) => compareText(a.at[4]!, b.at[4]!))
  }

  async function* rows({ namespace, after, where, among }: RowRange): AsyncIterable<PositionedRow> {
    const isWanted = (field: string, value: string): boolean => (where.get(field) ?? value) === value
    const releases = await reads.releases(namespace ?? '')
    for (const release of releases.toSorted(inOrder)) {
      const { name, namespace: home = '' } = release.metadata
      if (!isWanted('release', name) || isBefore([home, name], after)) continue
      for (const entry of release.spec.bundles.toSorted((a, b) => compareText(a.name, b.name))) {
        if (!isWanted('bundle', entry.name) || isBefore([home, name, entry.name], after)) continue
        if (among && !among.bundle(`${home}/${entry.name}`)) continue
        for (const set of setsOf(entry)) {
          if (!isWanted('set', set) || isBefore([home, name, entry.name, set], after)) continue
          for (const row of await rowsOf(release, entry, set)) {
            if (after === undefined || compareParts(row.at, after) > 0) yield row
          }
        }
      }
    }
  }

  return {
    rows,
    async get(namespace, name) {
      for (const release of await reads.releases(namespace)) {
        if (!name.startsWith(`${release.metadata.name}.`)) continue
        for await (const { object } of rows({ namespace, where: new Map([['release', release.metadata.name]]) })) {
          if (object.metadata.name === name) return object
        }
      }
      return undefined
    },
  }
}

/** The distinct sets of a bundle in a Release, in order. */
function setsOf({ set, variants }: Released): readonly string[] {
  const sets = variants && variants.length > 0 ? variants.flatMap((variant) => variant.set ?? []) : [set]
  return [...new Set<string>(sets)].toSorted(compareText)
}

function withoutHook({ apiVersion, kind, namespace, name, digest }: SetObject) {
  return { apiVersion, kind, ...(namespace !== undefined && { namespace }), name, digest }
}

function idOf({ apiVersion, kind, namespace = '', name }: SetObject): readonly string[] {
  return [apiVersion, kind, namespace, name]
}

/** A position has no slash. */
function positionOf({ kind, namespace = '', name, apiVersion }: SetObject): string {
  return `${kind} ${namespace} ${name} ${apiVersion.replace('/', ' ')}`
}

function markOf(parts: readonly string[]): string {
  return digestOfJson(parts).slice('sha256:'.length, 'sha256:'.length + 10)
}

function inOrder(a: Release, b: Release): number {
  return compareParts([a.metadata.namespace ?? '', a.metadata.name], [b.metadata.namespace ?? '', b.metadata.name])
}

/** Whether all rows that begin with these parts are before the position. */
function isBefore(parts: readonly string[], after: readonly string[] | undefined): boolean {
  return after !== undefined && compareParts(parts, after.slice(0, parts.length)) < 0
}

function compareParts(a: readonly string[], b: readonly string[]): number {
  for (const [at, part] of a.entries()) {
    const order = compareText(part, b[at] ?? '')
    if (order !== 0) return order
  }
  return 0
}
