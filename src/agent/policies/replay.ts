/**
 * Evaluates a policy, which does not wait, against a cluster that does: at a question without an answer the evaluation
 * stops, and runs again from its beginning with the answer. A write is sent once.
 */
import { goValue, copyOf, textAt } from '../../plan/policy/go-value.ts'
import type { GoObject } from '../../plan/policy/go-value.ts'
import { ClusterRefusal } from '../../plan/policy/policy-ports.ts'
import type { PolicyCluster, PolicyResource } from '../../plan/policy/policy-ports.ts'
import { plainObject } from '../../plan/policy/policy-tools.ts'
import { labelsOf } from '../../plan/policy/select-labels.ts'
import type { ResourceType, UnknownObject } from '../../kinds/meta.ts'
import type { TemplateObjects } from '../../render/policy-template/cluster-lookup.ts'
import type { PolicyAccess } from './policy-access.ts'
import type { PolicyRead } from './policy-watches.ts'

/** The result of an evaluation, with what it read and wrote. */
export interface Replayed<T> {
  readonly result: T
  readonly reads: readonly PolicyRead[]
  /** Writes that the cluster accepted. */
  readonly writes: number
}

/** The two views of the cluster that an evaluation has. */
export interface ReplayedCluster {
  readonly cluster: PolicyCluster
  readonly objects: TemplateObjects
}

/** Stops an evaluation until the question has its answer. */
class Unanswered extends Error {
  readonly answer: () => Promise<void>
  constructor(answer: () => Promise<void>) {
    super('the cluster has not answered yet')
    this.answer = answer
  }
}

type Answer = { readonly value: unknown } | { readonly refusal: ClusterRefusal }

/** The most questions of one evaluation. */
const MOST_QUESTIONS = 20_000
/** From the third namespace on, objects of a name are read in all namespaces at once. */
const SINGLE_READS = 2

/** Evaluates with the objects of a cluster; other errors than refusals of writes go to the caller. */
export async function replay<T>(
  access: PolicyAccess,
  evaluate: (view: ReplayedCluster) => T,
  signal: AbortSignal,
): Promise<Replayed<T>> {
  const questions = new Questions(access, signal)
  for (let asked = 0; asked < MOST_QUESTIONS; asked++) {
    questions.begin()
    try {
      const result = evaluate({ cluster: questions.cluster(), objects: questions.objects() })
      return { result, reads: [...questions.reads.values()], writes: questions.accepted }
    } catch (caught) {
      if (!(caught instanceof Unanswered)) throw caught
      await caught.answer()
    }
  }
  throw new Error(
    `the evaluation of the policy needs more than ${MOST_QUESTIONS} requests to the API server; select fewer objects`,
  )
}

class Questions {
  readonly reads = new Map<string, PolicyRead>()
  accepted = 0
  readonly #access: PolicyAccess
  readonly #signal: AbortSignal
  readonly #answers = new Map<string, Answer>()
  readonly #types = new Map<string, ResourceType | undefined>()
  /** Single reads by kind and name. */
  readonly #single = new Map<string, number>()
  /** Objects of a name in all namespaces, by kind and name. */
  readonly #everywhere = new Map<string, ReadonlyMap<string, GoObject> | undefined>()
  /** Writes of the present run: by object, and by kind. */
  #written = new Map<string, number>()
  #sent = 0

  constructor(access: PolicyAccess, signal: AbortSignal) {
    this.#access = access
    this.#signal = signal
  }

  begin(): void {
    this.#written = new Map()
    this.#sent = 0
  }

  cluster(): PolicyCluster {
    return {
      resourceOf: (apiVersion, kind) => this.#resourceOf(apiVersion, kind),
      get: (resource, namespace, name) => this.#get(resource, namespace, name),
      list: (resource, namespace, matches) =>
        this.#list(resource, namespace)
          .filter((object) => matches(labelsOf(object)))
          .map(copyOf),
      namespaces: () => {
        const resource = this.#resourceOf('v1', 'Namespace')!
        return this.#list(resource, '').map((object) => ({
          name: textAt(object, 'metadata', 'name'),
          labels: labelsOf(object),
          isTerminating: textAt(object, 'status', 'phase') === 'Terminating',
        }))
      },
      dryRunUpdate: (resource, object) => {
        const type = this.#typeOf(resource)
        const send = () => this.#access.dryRunUpdate(type, unknownOf(resource, object), this.#signal)
        return this.#object(`dry ${this.#versionOf(resource, object)} ${JSON.stringify(plainObject(object))}`, send)
      },
      update: (resource, object) =>
        this.#write(resource, object, (type, plain) => this.#access.update(type, plain, this.#signal)),
      create: (resource, object) =>
        this.#write(resource, object, (type, plain) => this.#access.create(type, plain, this.#signal)),
      delete: (resource, namespace, name) => {
        const type = this.#typeOf(resource)
        const send = () => this.#access.remove(type, namespace, name, this.#signal)
        return this.#sendOnce(resource, namespace, name, send) as boolean
      },
    }
  }

  objects(): TemplateObjects {
    const resource = (kind: { readonly apiVersion: string; readonly kind: string }) =>
      this.#resourceOf(kind.apiVersion, kind.kind)!
    return {
      resourceOf: ({ apiVersion, kind }) => {
        const found = this.#resourceOf(apiVersion, kind)
        const type = found && this.#typeOf(found)
        return found && type && { group: type.group, resource: found.resource, namespaced: found.namespaced }
      },
      get: (query) => {
        const found = this.#get(resource(query), query.namespace, query.name)
        return found && plainObject(found)
      },
      list: (query) =>
        this.#list(resource(query), query.namespace)
          .filter((object) => query.labels.matches(labelsOf(object)))
          .map((object) => plainObject(object)),
    }
  }

  #resourceOf(apiVersion: string, kind: string): PolicyResource | undefined {
    const key = `${apiVersion} ${kind}`
    if (!this.#types.has(key)) {
      throw new Unanswered(async () => {
        this.#types.set(key, await this.#access.typeOf(apiVersion, kind, this.#signal))
      })
    }
    const type = this.#types.get(key)
    // A kind that is installed later makes the policy due.
    if (!type) this.#note(apiVersion, kind, '', '')
    return type && { apiVersion, kind, resource: type.plural, namespaced: type.scope === 'Namespaced' }
  }

  #typeOf({ apiVersion, kind }: PolicyResource): ResourceType {
    return this.#types.get(`${apiVersion} ${kind}`)!
  }

  #note(apiVersion: string, kind: string, namespace: string, name: string): void {
    this.reads.set(`${apiVersion} ${kind} ${namespace}/${name}`, { apiVersion, kind, namespace, name })
  }

  #get(resource: PolicyResource, given: string, name: string): GoObject | undefined {
    const namespace = resource.namespaced ? given : ''
    const { apiVersion, kind } = resource
    this.#note(apiVersion, kind, namespace, name)
    const version = this.#written.get(`${apiVersion} ${kind} ${namespace}/${name}`) ?? 0
    const byName = `${apiVersion} ${kind} ${name}`
    const known = version === 0 ? this.#everywhere.get(byName) : undefined
    if (known) return copied(known.get(namespace))
    const type = this.#typeOf(resource)
    const key = `get ${version} ${apiVersion} ${kind} ${namespace}/${name}`
    const answer = this.#answers.get(key)
    if (answer) return copied(valueOf(answer) as GoObject | undefined)
    throw new Unanswered(async () => {
      const single = (this.#single.get(byName) ?? 0) + 1
      this.#single.set(byName, single)
      const isMany = resource.namespaced && version === 0 && single > SINGLE_READS
      if (isMany && !this.#everywhere.has(byName)) {
        this.#everywhere.set(byName, await this.#readEverywhere(type, name))
        if (this.#everywhere.get(byName)) return
      }
      const found = await this.#access.get(type, namespace, name, this.#signal)
      this.#answers.set(key, { value: found && goObject(found) })
    })
  }

  /** Objects of a name by namespace; undefined where not all namespaces may be read. */
  async #readEverywhere(type: ResourceType, name: string): Promise<ReadonlyMap<string, GoObject> | undefined> {
    try {
      const all = await this.#access.list(type, '', name, this.#signal)
      return new Map(all.map((object) => [object.metadata.namespace ?? '', goObject(object)]))
    } catch {
      return undefined
    }
  }

  #list(resource: PolicyResource, given: string): readonly GoObject[] {
    const namespace = resource.namespaced ? given : ''
    const { apiVersion, kind } = resource
    this.#note(apiVersion, kind, namespace, '')
    const version = this.#written.get(`${apiVersion} ${kind}`) ?? 0
    const key = `list ${version} ${apiVersion} ${kind} ${namespace}`
    const answer = this.#answers.get(key)
    if (answer) return valueOf(answer) as readonly GoObject[]
    const type = this.#typeOf(resource)
    throw new Unanswered(async () => {
      const found = await this.#access.list(type, namespace, '', this.#signal)
      const sorted = found.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
      this.#answers.set(key, { value: sorted.map(goObject) })
    })
  }

  #versionOf({ apiVersion, kind }: PolicyResource, object: GoObject): number {
    const where = `${textAt(object, 'metadata', 'namespace')}/${textAt(object, 'metadata', 'name')}`
    return this.#written.get(`${apiVersion} ${kind} ${where}`) ?? 0
  }

  #write(
    resource: PolicyResource,
    object: GoObject,
    send: (type: ResourceType, plain: UnknownObject) => Promise<UnknownObject>,
  ): GoObject {
    const type = this.#typeOf(resource)
    const namespace = resource.namespaced ? textAt(object, 'metadata', 'namespace') : ''
    const sent = this.#sendOnce(resource, namespace, textAt(object, 'metadata', 'name'), async () =>
      goObject(await send(type, unknownOf(resource, object))),
    )
    return copyOf(sent as GoObject)
  }

  #sendOnce(
    { apiVersion, kind }: PolicyResource,
    namespace: string,
    name: string,
    send: () => Promise<unknown>,
  ): unknown {
    const key = `write ${this.#sent++}`
    const answer = this.#answers.get(key)
    if (!answer) {
      throw new Unanswered(async () => {
        this.#answers.set(key, await answered(send))
        if ('value' in this.#answers.get(key)!) this.accepted += 1
      })
    }
    for (const place of [`${apiVersion} ${kind}`, `${apiVersion} ${kind} ${namespace}/${name}`])
      this.#written.set(place, (this.#written.get(place) ?? 0) + 1)
    return valueOf(answer)
  }

  #object(key: string, send: () => Promise<UnknownObject>): GoObject {
    const answer = this.#answers.get(key)
    if (answer) return copyOf(valueOf(answer) as GoObject)
    throw new Unanswered(async () => {
      this.#answers.set(key, await answered(async () => goObject(await send())))
    })
  }
}

async function answered(send: () => Promise<unknown>): Promise<Answer> {
  try {
    return { value: await send() }
  } catch (caught) {
    if (caught instanceof ClusterRefusal) return { refusal: caught }
    throw caught
  }
}

function valueOf(answer: Answer): unknown {
  if ('refusal' in answer) throw answer.refusal
  return answer.value
}

function copied(object: GoObject | undefined): GoObject | undefined {
  return object && copyOf(object)
}

function goObject(object: UnknownObject): GoObject {
  return goValue(object) as GoObject
}

function unknownOf({ apiVersion, kind }: PolicyResource, object: GoObject): UnknownObject {
  return { ...(plainObject(object) as unknown as UnknownObject), apiVersion, kind }
}

function placeOf({ metadata }: UnknownObject): string {
  return `${metadata.namespace ?? ''}\u0000${metadata.name}`
}
