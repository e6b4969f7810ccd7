// Tested by src/dialects/argo/served/repository-credentials.sim.test.ts
/** Credentials of the Sources of Applications and ApplicationSets, from the repository Secrets of their namespace. */
import { findObject } from '../../../client/find-object.ts'
import type { Informers } from '../../../client/informers.ts'
import { jsonEqual } from '../../../core/json.ts'
import type { Context } from '../../../engine/reconciler.ts'
import { ConfigMap, Secret } from '../../../kinds/builtin/core.ts'
import { Source } from '../../../kinds/native/source.ts'
import { POLL } from '../annotations.ts'
import { ARGO_NAMESPACE } from '../kinds.ts'
import { readSettings, SETTINGS_NAME } from '../settings/argocd-settings.ts'
import type { ArgoSettings } from '../settings/argocd-settings.ts'
import { DERIVED, repositoryAccess, SECRET_TYPE } from '../repositories/repository-secrets.ts'
import type { AccessAnswer } from '../repositories/repository-secrets.ts'
import type { AccessOf } from './compile-served.ts'
import { sourceUrlOf } from './compile-served.ts'
import type { ArgoPorts } from './ports.ts'
import type { Desired } from './served-objects.ts'

/** As in Argo CD, the settings of namespace argocd count for the Applications of all namespaces. */
export const SETTINGS_KEY = `${ARGO_NAMESPACE}/${SETTINGS_NAME}`

/** Argo CD reads only ConfigMaps with this label, and so does the hub. */
const PART_OF = 'app.kubernetes.io/part-of=argocd'
const REPOSITORY_TYPES = `${SECRET_TYPE} in (repository, repo-creds)`
const CREDENTIALS = 'argo-credentials'

/** The caches that credentials come from. */
export function repositoryInformers(informers: Informers) {
  return {
    secrets: informers.of(Secret, REPOSITORY_TYPES),
    configMaps: informers.of(ConfigMap, PART_OF),
    derived: informers.of(Secret, DERIVED),
  }
}

/** The ports of credentials, over the caches. */
export function createCredentialPorts(
  informers: Informers,
  manager: string,
): Pick<ArgoPorts, 'repositoryObjects' | 'writeCredentials' | 'settings'> {
  const { client } = informers
  const { secrets, configMaps, derived } = repositoryInformers(informers)
  const sources = informers.of(Source)
  sources.addIndex(CREDENTIALS, ({ metadata, spec }) =>
    spec.credentials === undefined ? [] : [`${metadata.namespace ?? ''}/${spec.credentials}`],
  )
  const written = new Map<string, Secret>()
  derived.onChange(({ key, after }) => {
    if (!after) written.delete(key)
  })
  let known: { readonly from: ConfigMap | undefined; readonly settings: ArgoSettings } | undefined
  return {
    settings() {
      const from = configMaps.lister.get(SETTINGS_KEY)
      if (known?.from !== from || !known) known = { from, settings: readSettings(from?.data) }
      return known.settings
    },
    repositoryObjects: (namespace) => ({
      secrets: secrets.lister.list(namespace),
      configMaps: configMaps.lister.list(namespace),
    }),
    async writeCredentials(secret, { signal, clock }) {
      const { name, namespace = '' } = secret.metadata
      const key = `${namespace}/${name}`
      const isFirst = !written.has(key)
      if (jsonEqual(written.get(key), secret)) return
      const before = isFirst ? await findObject(client, Secret, { namespace, name }, signal) : written.get(key)
      const isSame = jsonEqual(before?.metadata.annotations, secret.metadata.annotations)
      if (!isSame) await client.apply(Secret, secret, { fieldManager: manager, force: true, signal })
      written.set(key, secret)
      if (isSame || !before) return
      // A changed password: a Source that failed with the one before must not wait for its back-off.
      const annotations = { [POLL]: `argo-${clock.now()}` }
      for (const source of sources.lister.by(CREDENTIALS, key)) {
        const body = { metadata: { annotations } }
        await client.patch(Source, { name: source.metadata.name, namespace }, { type: 'merge', body }, { signal })
      }
    },
  }
}

/** The credentials of an owner's repositories, and what is to be said about them. */
export interface Access {
  readonly of: AccessOf
  /** Writes the credentials of Sources; returns why a repository cannot be read. */
  write(sources: readonly Desired[], context: Pick<Context, 'signal' | 'clock'>): Promise<string | undefined>
  /** Settings of Secrets without an effect. */
  notes(): readonly string[]
}

/** The access of Applications of an AppProject in a namespace. */
export function createAccess(namespace: string, project: string, ports: ArgoPorts): Access {
  const answers = new Map<string, AccessAnswer>()
  const of: AccessOf = (url) => {
    if (!answers.has(url)) answers.set(url, repositoryAccess(url, project, ports.repositoryObjects(namespace)))
    return answers.get(url)
  }
  return {
    of,
    async write(sources, context) {
      for (const { object } of sources) {
        const answer = of(sourceUrlOf(object.spec as Source['spec']))
        if (answer && 'problem' in answer) return answer.problem
        if (answer) await ports.writeCredentials(answer.secret, context)
      }
      return undefined
    },
    notes: () => [...answers.values()].flatMap((answer) => (answer && 'notes' in answer ? answer.notes : [])),
  }
}
