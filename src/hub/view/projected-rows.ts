// Tested by src/hub/view/projected-store.contract.test.ts
/** The rows of a projected kind: bundles on clusters in the words of a dialect. */
import { compact } from '../../core/compact.ts'
import { digestOfJson } from '../../core/crypto/digest.ts'
import { isOfDeliveries } from '../../dialects/projection.ts'
import type {
  AnyProjection,
  BundleStateRow,
  DeliveryProjection,
  Projection,
  RowScope,
} from '../../dialects/projection.ts'
import type { KubeObject, UnknownObject } from '../../kinds/meta.ts'
import { deliveryNameOf } from '../../kinds/native/delivery.ts'
import { deliveryRows } from './delivery-rows.ts'
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
export function projectedRows(reads: ViewReader, projection: AnyProjection): ProjectedRows {
  const { source, makerOf, read } = isOfDeliveries(projection)
    ? ofDeliveries(reads, projection)
    : ofBundles(reads, projection)

  async function* within(scope: RowScope, range: Pick<RowRange, 'after' | 'among'> = {}): AsyncIterable<PositionedRow> {
    const { namespace, ...fields } = scope
    const found = source.rows({
      ...range,
      ...compact({ namespace }),
      where: new Map(Object.entries(fields)),
    })
    const objectOf = read()
    for await (const { at, object } of found) {
      const row = await objectOf(at, object as BundleStateRow)
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
      const [contentNamespace, content] = (await find(namespace, name))?.of ?? []
      return content === undefined ? undefined : await makerOf(contentNamespace!, content)
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

/** What rows are made from, and the objects of rows that follow each other. */
interface Contents {
  readonly source: RowSource
  makerOf(namespace: string, name: string): Promise<KubeObject | undefined>
  /** Begins a list: rows of the same content read it once. */
  read(): (at: readonly string[], row: BundleStateRow) => Promise<UnknownObject | undefined>
}

function ofBundles(reads: ViewReader, projection: Projection): Contents {
  const { includes, objectOf, readsReports = false } = projection
  return {
    source: placedStateRows({
      ...reads,
      bundle: async (namespace, name) => {
        const bundle = await reads.bundle(namespace, name)
        return bundle && includes(bundle) ? bundle : undefined
      },
      bundles: async function* (namespace, from) {
        for await (const bundle of reads.bundles(namespace, from)) if (includes(bundle)) yield bundle
      },
    }),
    async makerOf(namespace, name) {
      const bundle = await reads.bundle(namespace, name)
      return bundle && projection.makerOf(bundle)
    },
    read() {
      const lastOf = rememberLast((namespace, name) => reads.bundle(namespace, name))
      return async (at, row) => {
        const bundle = await lastOf(at)
        const report = readsReports ? await reads.report(row.cluster) : undefined
        return bundle && objectOf(row, { bundle, ...compact({ report }) })
      }
    },
  }
}

function ofDeliveries(reads: ViewReader, { includes, objectOf, makerOf }: DeliveryProjection): Contents {
  const named = async (namespace: string, entry: string) => {
    const delivery = await reads.delivery(namespace, deliveryNameOf(entry) ?? '')
    return delivery && includes(delivery) ? delivery : undefined
  }
  return {
    source: deliveryRows({
      ...reads,
      delivery: async (namespace, name) => {
        const delivery = await reads.delivery(namespace, name)
        return delivery && includes(delivery) ? delivery : undefined
      },
      deliveries: async function* (namespace, from) {
        for await (const delivery of reads.deliveries(namespace, from)) if (includes(delivery)) yield delivery
      },
    }),
    async makerOf(namespace, entry) {
      const delivery = await named(namespace, entry)
      return delivery && makerOf(delivery)
    },
    read() {
      const lastOf = rememberLast(named)
      return async (at, row) => {
        const delivery = await lastOf(at)
        const report = await reads.report(row.cluster)
        return delivery && objectOf(row, { delivery, ...compact({ report }) })
      }
    },
  }
}

/** Reads the content of a row, and keeps it for the next row. */
function rememberLast<T>(read: (namespace: string, name: string) => Promise<T>): (at: readonly string[]) => Promise<T> {
  let last: { readonly key: string; readonly found: T } | undefined
  return async ([namespace = '', name = '']) => {
    const key = `${namespace}/${name}`
    if (last?.key !== key) last = { key, found: await read(namespace, name) }
    return last.found
  }
}

/** A scope with the fields that a request selects by; undefined if nothing can match. */
function narrowed(scope: RowScope, { kind }: AnyProjection, where: RowRange['where']): RowScope | undefined {
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
