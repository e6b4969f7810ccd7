// Tested by src/dialects/argo/scm/services.contract.test.ts
/** Asks the service of a plugin generator, as Argo CD does: a ConfigMap has its address and names its token. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { ServiceParts } from './ask-service.ts'
import { createServiceClient, ServiceError, textAt } from './service-client.ts'

const ARGO_SECRET = 'argocd-secret'
const PATH = 'api/v1/getparams.execute'

/** The parameters that the service answers for a set. */
export async function askPlugin(
  generator: JsonObject,
  set: string,
  parts: ServiceParts,
): Promise<readonly JsonObject[]> {
  const name = textAt(generator, 'configMapRef', 'name')
  const settings = name === '' ? undefined : await parts.configMap(name)
  if (!settings) throw new ServiceError(`plugin.configMapRef: there is no ConfigMap ${JSON.stringify(name)}`)
  const { baseUrl = '', token: reference = '' } = settings
  if (baseUrl === '') throw new ServiceError(`ConfigMap ${name} has no baseUrl`)
  const client = createServiceClient({
    ...parts,
    api: `${baseUrl.replace(/\/+$/, '')}/`,
    authorization: `Bearer ${await tokenOf(reference, name, parts)}`,
  })
  const input = isObject(generator['input']) ? generator['input'] : {}
  const answer = await client.post(PATH, {
    applicationSetName: set,
    input: { parameters: input['parameters'] ?? {} },
  })
  const output = isObject(answer) && isObject(answer['output']) ? answer['output']['parameters'] : undefined
  if (!Array.isArray(output) || !output.every(isObject))
    throw new ServiceError(`${new URL(baseUrl).origin} sent a response without a list output.parameters`)
  return output
}

/** The token that `$SECRET:KEY`, or `$KEY` of the Secret of Argo CD, names. */
async function tokenOf(reference: string, configMap: string, { pluginToken }: ServiceParts): Promise<string> {
  const [, secret, key = ''] = /^\$(?:([^:]+):)?(.+)$/.exec(reference) ?? []
  if (key === '')
    throw new ServiceError(`the token of ConfigMap ${configMap} must be $SECRET:KEY, or $KEY of ${ARGO_SECRET}`)
  const from = secret ?? ARGO_SECRET
  if (from === ARGO_SECRET && !key.startsWith('plugin.'))
    throw new ServiceError(
      `the token of ConfigMap ${configMap}: of ${ARGO_SECRET} only keys that begin with plugin. are sent`,
    )
  const found = await pluginToken(from, key)
  if ('problem' in found) throw new ServiceError(`the token of ConfigMap ${configMap}: ${found.problem}`)
  return found.token
}
