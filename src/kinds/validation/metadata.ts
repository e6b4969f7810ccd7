/** Metadata as data: its schema (for pruning, types and OpenAPI) and the rules every object's metadata obeys. */
import {
  labelKeyProblems,
  labelProblems,
  labelValueProblems,
  pathSegmentProblems,
  subdomainProblems,
} from '../../core/text/name-validation.ts'
import type { Kind } from '../define-kind.ts'
import type { KubeObject, ObjectMeta } from '../meta.ts'
import type { StructuralSchema } from '../schema/structural.ts'
import { forbidden, invalid, required, tooLong } from './field-error.ts'
import type { FieldError } from './field-error.ts'

const TEXT: StructuralSchema = { type: 'string' }
const TIME: StructuralSchema = { type: 'string', format: 'date-time' }
const INT: StructuralSchema = { type: 'integer', format: 'int64' }
const MAX_ANNOTATION_BYTES = 256 * 1024

/** The schema of ObjectMeta. */
export const METADATA_SCHEMA: StructuralSchema = {
  type: 'object',
  description: 'Standard object metadata.',
  properties: {
    name: TEXT,
    namespace: TEXT,
    generateName: TEXT,
    selfLink: TEXT,
    uid: TEXT,
    resourceVersion: TEXT,
    generation: INT,
    creationTimestamp: TIME,
    deletionTimestamp: TIME,
    deletionGracePeriodSeconds: INT,
    labels: { type: 'object', additionalProperties: TEXT },
    annotations: { type: 'object', additionalProperties: TEXT },
    finalizers: {
      type: 'array',
      items: TEXT,
      'x-kubernetes-list-type': 'set',
      'x-kubernetes-patch-strategy': 'merge',
    },
    ownerReferences: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-patch-merge-key': 'uid',
      items: {
        type: 'object',
        required: ['apiVersion', 'kind', 'name', 'uid'],
        'x-kubernetes-map-type': 'atomic',
        properties: {
          apiVersion: TEXT,
          kind: TEXT,
          name: TEXT,
          uid: TEXT,
          controller: { type: 'boolean' },
          blockOwnerDeletion: { type: 'boolean' },
        },
      },
    },
    managedFields: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'object',
        properties: {
          manager: TEXT,
          operation: TEXT,
          apiVersion: TEXT,
          time: TIME,
          fieldsType: TEXT,
          fieldsV1: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          subresource: TEXT,
        },
      },
    },
  },
}

/** What is wrong with the metadata of a new object. */
export function metadataErrors(kind: Pick<Kind, 'nameFormat' | 'scope'>, metadata: ObjectMeta): FieldError[] {
  const errors: FieldError[] = []
  const problemsOf = NAME_PROBLEMS[kind.nameFormat ?? 'subdomain']
  if (metadata.generateName) {
    // A generated suffix follows, so that a trailing dash is fine.
    const prefix = metadata.generateName.replace(/(.+)-$/, '$1a')
    errors.push(
      ...problemsOf(prefix).map((problem) => invalid('metadata.generateName', metadata.generateName, problem)),
    )
  }
  if (!metadata.name) errors.push(required('metadata.name', 'name or generateName is required'))
  else errors.push(...problemsOf(metadata.name).map((problem) => invalid('metadata.name', metadata.name, problem)))
  if (kind.scope === 'Cluster') {
    if (metadata.namespace) errors.push(forbidden('metadata.namespace', 'not allowed on this type'))
  } else if (!metadata.namespace) errors.push(required('metadata.namespace'))
  else {
    const problems = labelProblems(metadata.namespace)
    errors.push(...problems.map((problem) => invalid('metadata.namespace', metadata.namespace, problem)))
  }
  errors.push(...commonErrors(metadata))
  return errors
}

/** What is wrong with the metadata of an update; what the server sets itself is compared with the old object. */
export function metadataUpdateErrors(metadata: ObjectMeta, old: ObjectMeta): FieldError[] {
  const errors: FieldError[] = []
  if (old.deletionTimestamp) {
    const known = new Set(old.finalizers)
    const added = (metadata.finalizers ?? []).filter((finalizer) => !known.has(finalizer))
    if (added.length > 0) {
      const list = `[]string{${[...new Set(added)]
        .sort()
        .map((text) => JSON.stringify(text))
        .join(', ')}}`
      errors.push(
        forbidden(
          'metadata.finalizers',
          `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`,
        ),
      )
    }
  }
  for (const field of ['name', 'namespace', 'uid', 'creationTimestamp'] as const) {
    if (metadata[field] !== undefined && metadata[field] !== old[field]) {
      errors.push(invalid(`metadata.${field}`, metadata[field], 'field is immutable'))
    }
  }
  errors.push(...commonErrors(metadata))
  return errors
}

const NAME_PROBLEMS = {
  subdomain: subdomainProblems,
  label: labelProblems,
  pathSegment: pathSegmentProblems,
  address: ipAddressProblems,
} as const satisfies Record<NonNullable<Kind['nameFormat']>, (name: string) => string[]>

/** Problems of an address. Only its form is checked. */
export function ipAddressProblems(name: string): string[] {
  const isAddress = /^\d{1,3}(\.\d{1,3}){3}$/.test(name) || /^(?=.*:)[0-9a-f:.]{2,45}$/.test(name)
  return isAddress ? [] : ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']
}

function commonErrors(metadata: ObjectMeta): FieldError[] {
  const errors: FieldError[] = []
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    errors.push(...labelKeyProblems(key).map((problem) => invalid('metadata.labels', key, problem)))
    errors.push(...labelValueProblems(value).map((problem) => invalid('metadata.labels', value, problem)))
  }
  let annotationBytes = 0
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) {
    annotationBytes += new TextEncoder().encode(key + value).byteLength
    errors.push(...labelKeyProblems(key.toLowerCase()).map((problem) => invalid('metadata.annotations', key, problem)))
  }
  if (annotationBytes > MAX_ANNOTATION_BYTES) errors.push(tooLong('metadata.annotations', MAX_ANNOTATION_BYTES))
  for (const finalizer of metadata.finalizers ?? []) {
    errors.push(...labelKeyProblems(finalizer).map((problem) => invalid('metadata.finalizers', finalizer, problem)))
  }
  errors.push(...ownerErrors(metadata))
  return errors
}

function ownerErrors(metadata: ObjectMeta): FieldError[] {
  const errors: FieldError[] = []
  const at = 'metadata.ownerReferences'
  let controller: string | undefined
  for (const owner of metadata.ownerReferences ?? []) {
    if (!owner.apiVersion) errors.push(invalid(`${at}.apiVersion`, owner.apiVersion ?? '', 'version must not be empty'))
    for (const field of ['kind', 'name', 'uid'] as const) {
      if (!owner[field]) errors.push(invalid(`${at}.${field}`, owner[field] ?? '', 'must not be empty'))
    }
    if (owner.controller !== true) continue
    const name = `${owner.kind}/${owner.name}`
    if (controller !== undefined) {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`
      errors.push(invalid(at, metadata.ownerReferences, detail))
    } else controller = name
  }
  return errors
}

/** What is wrong with apiVersion and kind. */
export function typeMetaErrors(kind: Kind, object: KubeObject): FieldError[] {
  const errors: FieldError[] = []
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`
  if (object.kind !== kind.kind) errors.push(invalid('kind', object.kind ?? '', `must be ${kind.kind}`))
  if (object.apiVersion !== apiVersion) {
    errors.push(invalid('apiVersion', object.apiVersion ?? '', `must be ${apiVersion}`))
  }
  return errors
}
