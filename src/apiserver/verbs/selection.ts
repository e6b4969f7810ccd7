import { compact } from '../../core/compact.ts'
import { meetsRequirement, parseSelector } from '../../core/text/label-selector.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { RequestContext } from '../server/context.ts'
import { storeKey } from '../storage/stored-object.ts'
import { badRequest } from '../http/api-errors.ts'

/** Label and field selectors of lists and watches. */

/** What a list or watch selects. */
export interface Selection {
  matches(object: UnknownObject): boolean
  /** What it was read from: equal words select the same of a kind. */
  readonly words: string
  /** True when everything below the prefix is selected. */
  readonly all: boolean
  /** The one name a field selector asks for; reading it alone is enough. */
  readonly name?: string
  /** Fields that must have a value, as far as selectors say so in these words. */
  readonly where: ReadonlyMap<string, string>
}

interface FieldTerm {
  readonly path: string
  readonly value: string
  readonly negated: boolean
}

/** Reads `labelSelector` and `fieldSelector`; a field this kind cannot be selected by is a 400. */
export function parseSelection(kind: Kind, query: URLSearchParams): Selection {
  const labelWords = query.get('labelSelector') ?? ''
  const fieldWords = query.get('fieldSelector') ?? ''
  const labels = parseSelector(labelWords)
  const fields = parseFieldSelector(kind, fieldWords)
  const name = fields.find(({ path, negated }) => path === 'metadata.name' && !negated)?.value
  return compact({
    words: JSON.stringify([labelWords, fieldWords]),
    all: labels.length === 0 && fields.length === 0,
    name,
    where: new Map(fields.filter(({ negated }) => !negated).map(({ path, value }) => [path, value])),
    matches(object: UnknownObject) {
      const own = object.metadata.labels ?? {}
      return (
        labels.every((requirement) => meetsRequirement(own, requirement)) &&
        fields.every(({ path, value, negated }) => (selectedBy(object, path) === value) !== negated)
      )
    },
  })
}

/** Fields objects of a kind can be selected by, besides name and namespace. */
const EXTRA_FIELDS: Readonly<Record<string, readonly string[]>> = {
  '/Secret': ['type'],
  '/Namespace': ['status.phase'],
  '/Event': [
    'involvedObject.kind',
    'involvedObject.namespace',
    'involvedObject.name',
    'involvedObject.uid',
    'involvedObject.apiVersion',
    'involvedObject.resourceVersion',
    'involvedObject.fieldPath',
    'reason',
    'reportingComponent',
    'source',
    'type',
  ],
  'events.k8s.io/Event': [
    'regarding.kind',
    'regarding.namespace',
    'regarding.name',
    'regarding.uid',
    'regarding.apiVersion',
    'regarding.resourceVersion',
    'regarding.fieldPath',
    'reason',
    'reportingController',
    'type',
  ],
  '/Pod': [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ],
  '/Node': ['spec.unschedulable'],
  '/Service': ['spec.clusterIP', 'spec.type'],
  '/ReplicationController': ['status.replicas'],
  'batch/Job': ['status.successful'],
  'certificates.k8s.io/CertificateSigningRequest': ['spec.signerName'],
  'resource.k8s.io/ResourceSlice': ['spec.nodeName', 'spec.driver'],
}

/** What a field that is not there counts as; an empty text unless said. */
const ABSENT: Readonly<Record<string, string>> = {
  'spec.unschedulable': 'false',
  'spec.hostNetwork': 'false',
  'status.replicas': '0',
  'status.succeeded': '0',
}

/** Fields that are selected by another name than they have. */
const MEANT: Readonly<Record<string, string>> = { 'status.successful': 'status.succeeded' }

function parseFieldSelector(kind: Kind, text: string): FieldTerm[] {
  const own = kind.selectable ?? kind.custom?.selectableFields ?? EXTRA_FIELDS[`${kind.group}/${kind.kind}`] ?? []
  const supported = ['metadata.name', 'metadata.namespace', ...own]
  return text
    .split(',')
    .filter((term) => term.trim() !== '')
    .map((term): FieldTerm => {
      const match = /^\s*([^=!\s]+)\s*(==|=|!=)\s*(.*?)\s*$/.exec(term)
      if (!match)
        throw badRequest(
          `invalid field selector ${JSON.stringify(term)}; can't understand it: want field=value or field!=value`,
        )
      const [, path, operator, value] = match
      if (!supported.includes(path!)) throw badRequest(`field label not supported: ${path}`)
      return { path: path!, value: value!, negated: operator === '!=' }
    })
}

function selectedBy(object: UnknownObject, selected: string): string {
  if (selected === 'source') return fieldOf(object, 'source.component') || fieldOf(object, 'reportingComponent')
  const path = MEANT[selected] ?? selected
  return fieldOf(object, path) || (ABSENT[path] ?? '')
}

function fieldOf(object: UnknownObject, path: string): string {
  let value: unknown = object
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return ''
    value = (value as Record<string, unknown>)[key]
  }
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)
}

/** The store's key when a field selector names an object, so that nothing else need be read. */
export function singleKey(
  { kind, request }: Pick<RequestContext, 'kind' | 'request'>,
  selection: Selection,
): string | undefined {
  if (selection.name === undefined) return undefined
  if (kind.scope === 'Cluster') return storeKey(kind, { name: selection.name })
  return request.namespace ? storeKey(kind, { name: selection.name, namespace: request.namespace }) : undefined
}
