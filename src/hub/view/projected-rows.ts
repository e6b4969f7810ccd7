// Tested by src/hub/view/projected-store.contract.test.ts
/** The rows of a projected kind: bundles on clusters in the words of a dialect. */
import { compact } from '../../core/compact.ts'
import { digestOfJson } from '../../core/crypto/digest.ts'
import type { BundleStateRow, Projection, RowScope } from '../../dialects/projection.ts'
import type { KubeObject, UnknownObject } from '../../kinds/meta.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { placedStateRows } from './bundle-rows.ts'
import type { ViewReader } from './bundle-rows.ts'
import type { PositionedRow, RowRange, RowSource } from './row-source.ts'

/** Rows whose makers are known. */
export interface ProjectedRows extends RowSource {
  makerOf(namespace: string, name: string): Promise<KubeObject | undefined>
}

/** The fields by which rows can be passed over without computing them. */
const SCOPE_FIELDS = ['bundle', 'cluster'] as const

/** The second part of a position: no stored object has an empty name, so that both kinds of keys differ. */
const COMPUTED = ''

/** Whether a position of the kind is that of a row, and not of a stored object. */
export function isRowPosition(at: readonly string[]): boolean {
  return at[1] === COMPUTED && at.length > 2
}

/** The source of a projection. */
export function projectedRows(reads: ViewReader, projection: Projection): ProjectedRows {
  const { includes, objectOf, readsReports = false } = projection
  const source = placedStateRows({
    ...reads,
    bundle: async (namespace, name) => {
      const bundle = await reads.bundle(namespace, name)
      return bundle && includes(bundle) ? bundle : undefined
    },
    bundles: async function* (namespace, from) {
      for await (const bundle of reads.bundles(namespace, from)) if (includes(bundle)) yield bundle
    },
  })

  async function* within(scope: RowScope, range: Pick<RowRange, 'after' | 'among'> = {}): AsyncIterable<PositionedRow> {
    const { namespace, ...fields } = scope
    const found = source.rows({
      ...range,
      ...compact({ namespace }),
      where: new Map(Object.entries(fields)),
    })
    let last: { readonly key: string; readonly bundle: Bundle | undefined } | undefined
    for await (const { at, object } of found) {
      const state = object as BundleStateRow
      const [bundleNamespace = '', name = ''] = at
      const key = `${bundleNamespace}/${name}`
      if (last?.key !== key) last = { key, bundle: await reads.bundle(bundleNamespace, name) }
      const report = readsReports ? await reads.report(state.cluster) : undefined
      const row = last.bundle && objectOf(state, { bundle: last.bundle, ...compact({ report }) })
      if (row) yield { at: [row.metadata.namespace ?? '', COMPUTED, ...at], of: at, object: withIdentity(row) }
    }
  }

  async function find(namespace: string, name: string): Promise<PositionedRow | undefined> {
    for (const scope of projection.named(namespace, name)) {
      for await (const row of within(scope)) {
        const { metadata } = row.object
        if (metadata.name === name && (metadata.namespace ?? '') === namespace) return row
      }
    }
    return undefined
  }

  return {
    get: async (namespace, name) => (await find(namespace, name))?.object,
    async makerOf(namespace, name) {
      const [bundleNamespace, bundle] = (await find(namespace, name))?.of ?? []
      const made = bundle === undefined ? undefined : await reads.bundle(bundleNamespace!, bundle)
      return made && projection.makerOf(made)
    },
    async *rows({ namespace, after, where, among }) {
      const scope = narrowed(namespace === undefined ? {} : projection.within(namespace), projection, where)
      if (!scope) return
      const later = after && isRowPosition(after) ? { after: after.slice(2) } : {}
      for await (const row of within(scope, { ...later, ...compact({ among }) })) {
        if (namespace === undefined || row.at[0] === namespace) yield row
      }
    },
  }
}

/** A scope with the fields that a request selects by; undefined if nothing can match. */
function narrowed(scope: RowScope, { kind }: Projection, where: RowRange['where']): RowScope | undefined {
  const wanted: { -readonly [Part in keyof RowScope]: RowScope[Part] } = { ...scope }
  for (const field of SCOPE_FIELDS) {
    const value = kind.selectable?.includes(field) ? where.get(field) : undefined
    if (value === undefined) continue
    if (wanted[field] !== undefined && wanted[field] !== value) return undefined
    wanted[field] = value
  }
  return wanted
}

/** Clients tell objects apart by uid: the same row has the same uid on each read. */
function withIdentity(row: UnknownObject): UnknownObject {
  const { apiVersion, kind, metadata } = row
  const hash = digestOfJson([apiVersion.split('/')[0]!, kind, metadata.namespace ?? '', metadata.name]).slice(-32)
  const uid = hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-8$3-a$4-$5')
  return { ...row, metadata: { ...metadata, uid } }
}
