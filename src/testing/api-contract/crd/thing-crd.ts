import assert from 'node:assert/strict'
import type { KubeObject } from '../../../kinds/meta.ts'
import type { Api } from '../harness.ts'
import { eventually } from '../policies/validating-policies.ts'

/** `things`, a kind that each case defines for itself, in a group of its own. */

/** Where definitions are. */
export const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** A piece of a schema. */
export type Schema = Record<string, unknown>
/** A definition, as cases look at it. */
export interface Crd extends KubeObject {
  spec: {
    group: string
    scope: string
    names: Record<string, unknown> & { plural: string; kind: string }
    versions: Record<string, unknown>[]
  }
  status?: {
    conditions?: { type: string; status: string; reason: string; message: string }[]
    storedVersions?: string[]
    acceptedNames?: { plural: string }
  }
}

/** The schema of an object. */
export const object = (properties: Schema, more: Schema = {}): Schema => ({ type: 'object', properties, ...more })

/** A definition of `things` in a group of the case's own. */
export function define(api: Api, spec: Schema, more: Schema = {}): Crd {
  const group = `${api.namespace}.example.com`
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing', shortNames: ['th'] },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: object({ spec }) }, ...more }],
    },
  }
}

/** Makes a definition and waits until its objects are served; returns their address. */
export async function install(api: Api, crd: Crd): Promise<string> {
  await api.ok('POST', CRDS, crd)
  return established(api, crd)
}

/** The same for one that was made. */
export async function established(api: Api, crd: Crd): Promise<string> {
  const { group, names, scope } = crd.spec
  const version = String(crd.spec.versions[0]!['name'])
  const path = `/apis/${group}/${version}/${scope === 'Namespaced' ? `namespaces/${api.namespace}/` : ''}${names.plural}`
  await eventually(async () => {
    const { status }: Crd = await api.ok('GET', `${CRDS}/${crd.metadata.name}`)
    const is = (type: string) => status?.conditions?.find((condition) => condition.type === type)?.status
    assert.equal(is('Established'), 'True')
    assert.equal(is('NamesAccepted'), 'True')
    await api.ok('GET', path)
  })
  return path
}

/** An object of the kind. */
export const thing = (api: Api, spec: unknown, more: Schema = {}): Schema => ({
  apiVersion: `${api.namespace}.example.com/v1`,
  kind: 'Thing',
  metadata: { name: 'a' },
  spec,
  ...more,
})

/** The same as it comes back. */
export interface Thing extends KubeObject {
  spec: Record<string, unknown>
  status?: Record<string, unknown>
}
