import { nameSome } from '../../core/text/name-some.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { describeObject } from '../objects/object-id.ts'
import { finding } from './finding.ts'
import type { Finding } from './finding.ts'
import { apiLife, minorOf } from './kubernetes-apis.ts'
import type { ApiLife } from './kubernetes-apis.ts'

/** A cluster that gets the object, and the Kubernetes it runs, as far as that is known. */
export interface LintCluster {
  readonly name: string
  readonly kubeVersion?: string | undefined
}

/** Whether the clusters of an object serve its API version. */
export function lintApi(object: UnknownObject, clusters: readonly LintCluster[]): Finding[] {
  const life = apiLife(object.apiVersion, object.kind)
  if (!life) return []
  const known = clusters.flatMap(({ name, kubeVersion }) => {
    const minor = minorOf(kubeVersion)
    return minor === undefined ? [] : [{ name, minor }]
  })
  const which = (holds: (minor: number) => boolean) => known.filter(({ minor }) => holds(minor)).map(({ name }) => name)
  const what = `${nameOf(object)}: ${object.apiVersion}`
  const more = { place: ['apiVersion'], ...todoOf(life) }
  const { since, deprecated, removed } = life
  const without = removed === undefined ? [] : which((minor) => minor >= removed)
  const early = which((minor) => minor < since)
  if (without.length > 0 || early.length > 0) {
    return [
      ...(without.length === 0
        ? []
        : [finding('removed-api', `${what} is not served since Kubernetes 1.${removed}, ${ran(without)}`, more)]),
      ...(early.length === 0
        ? []
        : [
            finding('future-api', `${what} is served from Kubernetes 1.${since} on, ${ran(early, 'an older one')}`, {
              place: ['apiVersion'],
            }),
          ]),
    ]
  }
  const isNear = deprecated !== undefined && (known.length === 0 || known.some(({ minor }) => minor >= deprecated))
  if (!isNear) return []
  const end = removed === undefined ? '' : ` and not served from 1.${removed} on`
  return [finding('deprecated-api', `${what} is deprecated since Kubernetes 1.${deprecated}${end}`, more)]
}

function nameOf(object: UnknownObject): string {
  return describeObject({ ...object.metadata, apiVersion: object.apiVersion, kind: object.kind })
}

function ran(names: readonly string[], version = 'that or a newer one'): string {
  return `and ${names.length === 1 ? 'one cluster runs' : `${names.length} clusters run`} ${version} (${nameSome(names)})`
}

function todoOf({ instead }: ApiLife): { todo?: string } {
  if (instead === undefined) return {}
  const [apiVersion, kind] = instead.split(' ')
  return { todo: `write apiVersion: ${apiVersion}${kind === undefined ? '' : ` and kind: ${kind}`}` }
}
