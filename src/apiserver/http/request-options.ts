import { compact } from '../../core/compact.ts'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import type { HttpRequest } from '../../core/http.ts'
import { invalid, invalidObject, notSupported } from '../../kinds/validation/field-error.ts'
import type { FieldError } from '../../kinds/validation/field-error.ts'
import { contentTypeOf, decodeBody } from './decode-body.ts'
import { badRequest, conflict } from './api-errors.ts'
import { isTrue } from './request-info.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'

/** Options of writes, from the query and, for deletes, from the body. */

/** How strictly unknown and duplicate fields are taken. */
export type FieldValidation = 'Strict' | 'Warn' | 'Ignore'

/** Options of create, update and patch. */
export interface WriteOptions {
  readonly dryRun: boolean
  readonly fieldManager: string
  readonly fieldManagerGiven: boolean
  readonly fieldValidation: FieldValidation
  readonly force: boolean
}

/** Reads the options of a write; a value Kubernetes does not know is a 422. */
export function writeOptions(
  optionsKind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  query: URLSearchParams,
  http: HttpRequest,
): WriteOptions {
  const errors: FieldError[] = dryRunErrors(query.getAll('dryRun'))
  const given = query.get('fieldManager') ?? ''
  if (given.length > 128) errors.push(invalid('fieldManager', given, 'may not be more than 128 bytes'))
  if (!/^[\x20-\x7e]*$/.test(given))
    errors.push(invalid('fieldManager', given, 'should only contain printable characters'))
  const validation = query.get('fieldValidation') || 'Warn'
  if (!isFieldValidation(validation)) {
    errors.push(notSupported('fieldValidation', validation, ['Ignore', 'Strict', 'Warn']))
  }
  refuse(optionsKind, errors)
  return {
    dryRun: query.getAll('dryRun').length > 0,
    fieldManager: given || managerOfAgent(http.headers['user-agent'] ?? ''),
    fieldManagerGiven: given !== '',
    fieldValidation: validation as FieldValidation,
    force: isTrue(query.get('force')),
  }
}

/** Options of delete and deletecollection. */
export interface DeleteOptions {
  readonly dryRun: boolean
  readonly uid?: string
  readonly resourceVersion?: string
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly gracePeriodSeconds?: number
  /** Set by the deprecated `orphanDependents: false`; the answer then says when the object is not gone yet. */
  readonly cascades?: true
}

const POLICIES = ['Background', 'Foreground', 'Orphan'] as const

/** Reads the options of a delete from its body, or from the query when there is no body. */
export function deleteOptions(http: HttpRequest, query: URLSearchParams): DeleteOptions {
  const body = http.body && http.body.byteLength > 0 ? decodeBody(http, contentTypeOf(http)).value : undefined
  if (body !== undefined && !isObject(body)) throw badRequest('the body of a delete must be DeleteOptions')
  return deleteOptionsOf(body, query)
}

/** Options of a delete that are somewhere else, or the query's when there are none. */
export function deleteOptionsOf(body: JsonObject | undefined, query = new URLSearchParams()): DeleteOptions {
  const preconditions = isObject(body?.['preconditions']) ? body['preconditions'] : {}
  const dryRun = body ? listOfText(body['dryRun']) : query.getAll('dryRun')
  const orphan = body?.['orphanDependents'] ?? query.get('orphanDependents')
  const policy = body?.['propagationPolicy'] ?? query.get('propagationPolicy')
  const grace = body?.['gracePeriodSeconds'] ?? query.get('gracePeriodSeconds')
  const errors = dryRunErrors(dryRun)
  const propagationPolicy = POLICIES.find((known) => known === policy)
  if (policy !== undefined && policy !== null && !propagationPolicy) {
    errors.push(notSupported('propagationPolicy', policy, ['Background', 'Foreground', 'Orphan']))
  }
  if (policy && orphan !== undefined && orphan !== null) {
    const why = 'orphanDependents and deletionPropagation cannot be both set'
    errors.push(invalid('propagationPolicy', policy, why))
  }
  refuse('DeleteOptions', errors)
  const orphans = typeof orphan === 'string' ? isTrue(orphan) : typeof orphan === 'boolean' ? orphan : undefined
  const effective = propagationPolicy ?? (orphans === undefined ? undefined : orphans ? 'Orphan' : 'Background')
  return compact({
    dryRun: dryRun.length > 0,
    uid: typeof preconditions['uid'] === 'string' ? preconditions['uid'] : undefined,
    resourceVersion:
      typeof preconditions['resourceVersion'] === 'string' ? preconditions['resourceVersion'] : undefined,
    propagationPolicy: effective,
    cascades: orphans === false ? true : undefined,
    gracePeriodSeconds: grace !== undefined && grace !== null ? Number(grace) : undefined,
  })
}

/** Throws the 409 of a precondition that does not hold. */
export function checkPreconditions(
  kind: Kind,
  object: UnknownObject,
  wanted: Pick<DeleteOptions, 'uid' | 'resourceVersion'>,
): void {
  const { name, uid, resourceVersion } = object.metadata
  if (wanted.uid !== undefined && wanted.uid !== uid) {
    throw conflict(kind, name, `Precondition failed: UID in precondition: ${wanted.uid}, UID in object meta: ${uid}`)
  }
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== resourceVersion) {
    const why = `Precondition failed: ResourceVersion in precondition: ${wanted.resourceVersion}, ResourceVersion in object meta: ${resourceVersion}`
    throw conflict(kind, name, why)
  }
}

/** The same for a delete, which has its own words for it. */
export function checkDeletePreconditions(
  kind: Kind,
  object: UnknownObject,
  wanted: Pick<DeleteOptions, 'uid' | 'resourceVersion'>,
): void {
  const { name, uid, resourceVersion } = object.metadata
  const refuse = (field: string, given: string, record: string | undefined, why: string) => {
    const differs = `the ${field} in the precondition (${given}) does not match the ${field} in record (${record})`
    throw conflict({ group: kind.group, plural: kind.kind }, name, `${differs}. The object might have been ${why}`)
  }
  if (wanted.uid !== undefined && wanted.uid !== uid) refuse('UID', wanted.uid, uid, 'deleted and then recreated')
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== resourceVersion) {
    refuse('ResourceVersion', wanted.resourceVersion, resourceVersion, 'modified')
  }
}

function dryRunErrors(values: readonly string[]): FieldError[] {
  if (values.every((value) => value === 'All')) return []
  return [
    notSupported(
      'dryRun',
      values.find((value) => value !== 'All'),
      ['All'],
    ),
  ]
}

function refuse(kind: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind }, '', errors)
}

function listOfText(value: unknown): string[] {
  if (value === undefined || value === null) return []
  return (Array.isArray(value) ? value : [value]).map(String)
}

function isFieldValidation(text: string): text is FieldValidation {
  return text === 'Strict' || text === 'Warn' || text === 'Ignore'
}

/** The default field manager: the client's user agent up to the first slash. */
function managerOfAgent(userAgent: string): string {
  return (
    userAgent
      .split('/')[0]!
      .replaceAll(/[^\x20-\x7e]/g, '?')
      .slice(0, 128) || 'unknown'
  )
}
