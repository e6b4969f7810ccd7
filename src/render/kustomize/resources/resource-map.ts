/** The objects of a build, in the order they came. */
import { KustomizeError } from '../kustomize-error.ts'
import { mergePatch } from '../patch/merge-patch.ts'
import type { MergeSchemas } from '../patch/merge-schema.ts'
import { generatedData, setGeneratedData } from './generated-data.ts'
import type { Resource } from './resource.ts'
import { apiVersionOf, idGoSyntax, idText, sameId } from './resource-id.ts'
import type { ResourceId } from './resource-id.ts'
import { ORIGIN } from './build-annotations.ts'

/** A list of objects in which no two have the same current name. */
export class ResourceMap {
  resources: Resource[] = []

  static of(resources: readonly Resource[]): ResourceMap {
    const map = new ResourceMap()
    for (const resource of resources) map.append(resource)
    return map
  }

  append(resource: Resource): void {
    const id = resource.currentId
    if (this.resources.some((other) => other.name === id.name && sameId(id, other.currentId))) {
      throw new KustomizeError(`may not add resource with an already registered id: ${idText(id)}`)
    }
    this.resources.push(resource)
  }

  appendAll(other: ResourceMap): void {
    for (const resource of other.resources) this.append(resource)
  }

  dropEmpty(): void {
    if (this.resources.some((resource) => resource.isEmpty)) {
      this.resources = this.resources.filter((resource) => !resource.isEmpty)
    }
  }

  byCurrentId(id: ResourceId): Resource[] {
    return this.resources.filter((resource) => resource.name === id.name && sameId(id, resource.currentId))
  }

  byAnyId(matches: (id: ResourceId) => boolean): Resource[] {
    return this.resources.filter(
      (resource) => !resource.isEmpty && (resource.previousIds.some(matches) || matches(resource.currentId)),
    )
  }

  /** The only object that has or had this name. */
  theOneWithId(id: ResourceId): Resource {
    const found = this.byAnyId((other) => sameId(id, other))
    if (found.length === 1) return found[0]!
    const problem = found.length > 1 ? 'multiple matches' : 'no matches'
    throw new KustomizeError(`${problem} for Id ${idText(id)}; failed to find unique target for patch ${idText(id)}`)
  }

  /** Adds what a generator made, or merges it into what is there, as its behaviour says. */
  absorb(other: ResourceMap): void {
    for (const resource of other.resources) this.#absorbOne(resource)
  }

  #absorbOne(resource: Resource): void {
    const id = resource.currentId
    const matches = this.byAnyId((other) => sameId(id, other))
    const { behavior } = resource
    if (matches.length === 0) {
      if (behavior === 'merge' || behavior === 'replace') {
        throw new KustomizeError(`id ${idGoSyntax(id)} does not exist; cannot merge or replace`)
      }
      this.append(resource)
      return
    }
    if (matches.length > 1) {
      const list = matches.map((match) => match.toJson()).join(' ')
      throw new KustomizeError(`found multiple objects [${list}] that could accept merge of ${idText(id)}`)
    }
    const old = matches[0]!
    if (behavior !== 'merge' && behavior !== 'replace') {
      throw new KustomizeError(
        `id ${idGoSyntax(id)} exists; can not use behavior: '${behavior}', behavior must be merge or replace`,
      )
    }
    const origin = old.annotation(ORIGIN)
    resource.takeMetadata(old)
    if (behavior === 'merge') {
      mergeData(resource, old)
      if (origin !== undefined) resource.setAnnotations(resource.annotations.set(ORIGIN, origin))
    }
    this.#replace(resource, old)
  }

  #replace(resource: Resource, old: Resource): void {
    const id = resource.currentId
    const at = this.resources.findIndex((other) => sameId(id, other.currentId))
    if (at < 0) throw new KustomizeError(`cannot find resource with id ${idText(id)} to replace`)
    if (this.resources[at] !== old) throw new KustomizeError('unexpected target index in replacement')
    this.resources[at] = resource
  }

  /** Merges a patch into some of the objects; what it deletes is gone. */
  applyPatchTo(selected: readonly Resource[], patch: Resource, schemas: MergeSchemas): void {
    const chosen = new Set(selected)
    const kept: Resource[] = []
    for (const resource of this.resources) {
      if (chosen.has(resource)) {
        const copy = patch.copy()
        copy.takeMetadata(patch)
        copy.setKind(resource.kind)
        copy.setApiVersion(apiVersionOf(resource.gvk))
        copy.setKind(patch.kind)
        applyPatch(resource, copy, schemas)
      }
      if (!resource.isEmpty) kept.push(resource)
    }
    this.resources = []
    for (const resource of kept) this.append(resource)
  }
}

/** Merges a patch into one object; names stay unless the patch may change them. */
export function applyPatch(resource: Resource, patch: Resource, schemas: MergeSchemas): void {
  const { name, namespace, kind } = resource
  if (patch.mayChangeName || patch.mayChangeKind) resource.rememberId()
  const { mayChangeKind, mayChangeName } = patch
  // The merge changes the object in place; only a deletion is told by what it gives back.
  if (!mergePatch(patch.node, resource.node, schemas)) resource.node = undefined
  if (resource.isEmpty) return
  if (!mayChangeKind) resource.setKind(kind)
  if (!mayChangeName) resource.setName(name)
  resource.setNamespace(namespace)
}

function mergeData(resource: Resource, old: Resource): void {
  const { data, binaryData } = generatedData(old)
  const own = generatedData(resource)
  setGeneratedData(resource, 'data', new Map([...data, ...own.data]))
  setGeneratedData(resource, 'binaryData', new Map([...binaryData, ...own.binaryData]))
}
