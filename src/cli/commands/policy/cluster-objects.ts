// Tested by src/cli/commands/policy/template.contract.test.ts.
/**
 * Objects of a cluster for templates, which run without waiting: a read that is not answered yet stops the template, is
 * sent to the API, and the template runs again.
 */
import { readFile } from 'node:fs/promises'
import { createDiscovery } from '../../../client/discovery.ts'
import { createHttpsTransport } from '../../../client/https-transport.ts'
import { KubeconfigError, readKubeconfig } from '../../../client/kubeconfig.ts'
import { collectionPath, objectPath, withQuery } from '../../../client/resource-paths.ts'
import { createRest } from '../../../client/rest.ts'
import type { Rest } from '../../../client/rest.ts'
import { isApiError } from '../../../core/errors.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import type { ResourceType } from '../../../kinds/meta.ts'
import type { TemplateObjects } from '../../../render/policy-template/cluster-lookup.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { readText } from '../../input/read-text-file.ts'

/** A read that has to be answered before the template can go on. */
class PendingRead extends Error {
  readonly answer: () => Promise<void>

  constructor(answer: () => Promise<void>) {
    super('a read of the cluster is pending')
    this.answer = answer
  }
}

/** A template reads at most so many different objects and lists. */
const MOST_READS = 10_000

/** Runs a function until the API has answered all of its reads. */
export async function withReads<T>(resolve: () => T): Promise<T> {
  for (let reads = 0; reads < MOST_READS; reads++) {
    try {
      return resolve()
    } catch (caught) {
      if (!(caught instanceof PendingRead)) throw caught
      await caught.answer()
    }
  }
  throw new CliError(EXIT.failed, { what: `the template reads more than ${MOST_READS} objects` })
}

/** The objects of the cluster that a kubeconfig names; connects at the first read. */
export function clusterObjects(kubeconfig: string): TemplateObjects & { close(): Promise<void> } {
  let connected: Promise<{ readonly rest: Rest; readonly close: () => Promise<void> }> | undefined
  const connect = () => (connected ??= connectTo(kubeconfig))
  const types = new Map<string, ResourceType | undefined>()
  const answers = new Map<string, unknown>()
  const answerOf = <T>(key: string, ask: (rest: Rest) => Promise<T>): T => {
    if (answers.has(key)) return answers.get(key) as T
    throw new PendingRead(async () => {
      const { rest } = await connect()
      answers.set(key, await ask(rest))
    })
  }
  const typeOf = (apiVersion: string, kind: string): ResourceType | undefined => {
    const key = `${apiVersion} ${kind}`
    if (!types.has(key))
      types.set(
        key,
        answerOf(key, (rest) => createDiscovery(rest).typeOf(apiVersion, kind)),
      )
    return types.get(key)
  }
  return {
    resourceOf: ({ apiVersion, kind }) => {
      const type = typeOf(apiVersion, kind)
      return type && { group: type.group, resource: type.plural, namespaced: type.scope === 'Namespaced' }
    },
    get: ({ apiVersion, kind, namespace, name }) => {
      const type = typeOf(apiVersion, kind)
      if (!type) return undefined
      const path = objectPath(type, { name, ...(namespace !== '' && { namespace }) })
      return answerOf(path, (rest) => readObject(rest, path))
    },
    list: ({ apiVersion, kind, namespace, labels }) => {
      const type = typeOf(apiVersion, kind)
      if (!type) return []
      const path = collectionPath(type, namespace)
      const query = withQuery(path, { labelSelector: labels.text === '' ? undefined : labels.text })
      return answerOf(query, (rest) => readList(rest, query, { apiVersion, kind }))
    },
    close: async () => {
      if (connected) await (await connected.catch(() => undefined))?.close()
    },
  }
}

async function connectTo(file: string): Promise<{ readonly rest: Rest; readonly close: () => Promise<void> }> {
  try {
    const read = await readKubeconfig({
      text: await readText(file),
      file,
      readFile: (path) => readFile(path, 'utf8'),
    })
    const { transport, close } = createHttpsTransport(read.connection)
    return { rest: createRest({ transport, clock: systemClock }), close }
  } catch (caught) {
    if (!(caught instanceof KubeconfigError)) throw caught
    const report = { where: file, what: 'cannot use the kubeconfig', why: caught.message }
    throw new CliError(EXIT.usage, report, { cause: caught })
  }
}

async function readObject(rest: Rest, path: string): Promise<JsonObject | undefined> {
  try {
    const object = await rest.json({ method: 'GET', path })
    return isObject(object) ? object : undefined
  } catch (caught) {
    if (isApiError(caught, 'NotFound')) return undefined
    throw caught
  }
}

/** The items of a list, which the API sends without apiVersion and kind. */
async function readList(
  rest: Rest,
  path: string,
  kind: { readonly apiVersion: string; readonly kind: string },
): Promise<JsonObject[]> {
  const list = await rest.json({ method: 'GET', path })
  const items = isObject(list) && Array.isArray(list['items']) ? list['items'].filter(isObject) : []
  return items.map((item) => ({ ...kind, ...item }))
}
