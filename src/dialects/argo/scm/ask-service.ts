// Tested by src/dialects/argo/scm/services.contract.test.ts
/** Asks the service of a pullRequest, scmProvider or plugin generator. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { Clock } from '../../../core/time/clock.ts'
import type { HttpGet } from '../../../source/http-get.ts'
import type { PullRequest, ScmRepository, ServiceFailure } from '../applicationset/generate-inputs.ts'
import { askPlugin } from './ask-plugin.ts'
import { GIT_SERVICES } from './git-services.ts'
import { createServiceClient, namesAt, ServiceError, textAt } from './service-client.ts'

/** What a generator asks. */
export interface ServiceQuestion {
  readonly kind: 'pullRequest' | 'scmProvider' | 'plugin'
  readonly generator: JsonObject
  /** The name of the set, which plugins are told. */
  readonly set?: string
}

/** What asking works with. */
export interface ServiceParts {
  readonly httpGet: HttpGet
  readonly clock: Clock
  /** The token of a Secret in the namespace of the set, or why it cannot be used. */
  token(secret: string, key: string): Promise<{ readonly token: string } | { readonly problem: string }>
  /** The same of a Secret that is meant for plugins. */
  pluginToken(secret: string, key: string): Promise<{ readonly token: string } | { readonly problem: string }>
  /** The data of a ConfigMap in the namespace of the set. */
  configMap(name: string): Promise<Readonly<Record<string, string>> | undefined>
  readonly signal: AbortSignal
}

export type ServiceAnswer = readonly PullRequest[] | readonly ScmRepository[] | readonly JsonObject[] | ServiceFailure

const OTHERS = ['bitbucket', 'bitbucketServer', 'azureDevOps', 'azuredevops', 'awsCodeCommit']
const REFUSED = {
  appSecretName: 'use tokenRef',
  insecure: 'the certificate is always checked',
  caRef: 'use an address with a public certificate',
}

/** Asks; an error is an answer. */
export async function askService(
  { kind, generator, set = '' }: ServiceQuestion,
  parts: ServiceParts,
): Promise<ServiceAnswer> {
  try {
    if (kind === 'plugin') return await askPlugin(generator, set, parts)
    const other = OTHERS.find((name) => isObject(generator[name]))
    if (other !== undefined) throw new ServiceError(`${kind}.${other} is not supported; github, gitlab and gitea are`)
    const name = Object.keys(GIT_SERVICES).find((one) => isObject(generator[one]))
    if (name === undefined) throw new ServiceError(`${kind} must have one of ${Object.keys(GIT_SERVICES).join(', ')}`)
    const service = GIT_SERVICES[name]!
    const options = generator[name] as JsonObject
    for (const [field, advice] of Object.entries(REFUSED)) {
      if (options[field] !== undefined && options[field] !== false && options[field] !== '')
        throw new ServiceError(`${kind}.${name}.${field} is not supported; ${advice}`)
    }
    const token = await tokenOf(options['tokenRef'], `${kind}.${name}.tokenRef`, parts)
    const client = createServiceClient({
      ...parts,
      api: service.api(options),
      authorization: token === undefined ? undefined : service.authorization(token),
    })
    if (kind === 'pullRequest') return await service.pullRequests(client, options)
    const isSsh = textAt(generator, 'cloneProtocol') !== 'https'
    return await service.repositories(client, options, { isSsh, paths: pathsIn(generator['filters']) })
  } catch (caught) {
    if (caught instanceof ServiceError) return { failure: caught.message, isNotFound: caught.isNotFound }
    throw caught
  }
}

async function tokenOf(ref: unknown, where: string, { token }: ServiceParts): Promise<string | undefined> {
  if (ref === undefined || ref === null) return undefined
  const [secret, key] = [textAt(ref, 'secretName'), textAt(ref, 'key')]
  if (secret === '' || key === '') throw new ServiceError(`${where} must have secretName and key`)
  const found = await token(secret, key)
  if ('problem' in found) throw new ServiceError(`${where}: ${found.problem}`)
  return found.token
}

function pathsIn(filters: unknown): string[] {
  const all = (Array.isArray(filters) ? filters.filter(isObject) : []).flatMap((filter) => [
    ...namesAt(filter, 'pathsExist'),
    ...namesAt(filter, 'pathsDoNotExist'),
  ])
  return [...new Set(all.map((path) => path.replace(/\/+$/, '')))]
}
