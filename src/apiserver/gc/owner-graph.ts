import type { OwnerReference, UnknownObject } from '../../kinds/meta.ts'

/** The graph of owners and dependents. Objects without owners are not stored in it. */
export class OwnerGraph {
  readonly #owners = new Map<string, readonly OwnerReference[]>()
  readonly #dependents = new Map<string, Set<string>>()

  /** Takes note of an object under its store key; undefined when it is gone. Says whether its owners changed. */
  note(key: string, object: UnknownObject | undefined): boolean {
    const before = this.#owners.get(key) ?? []
    const owners = object?.metadata.ownerReferences ?? []
    for (const { uid } of before) this.#unlink(uid, key)
    for (const { uid } of owners) this.#link(uid, key)
    if (owners.length > 0) this.#owners.set(key, owners)
    else this.#owners.delete(key)
    const uids = (references: readonly OwnerReference[]) => references.map(({ uid }) => uid).join()
    return uids(before) !== uids(owners)
  }

  /** Keys of the objects that name this owner. */
  dependentsOf(uid: string): readonly string[] {
    return [...(this.#dependents.get(uid) ?? [])]
  }

  /** Keys of the dependents whose presence keeps this owner in foreground deletion. */
  blockersOf(uid: string): readonly string[] {
    return this.dependentsOf(uid).filter((key) =>
      this.ownersOf(key).some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
    )
  }

  /** The owners of the object under a key. */
  ownersOf(key: string): readonly OwnerReference[] {
    return this.#owners.get(key) ?? []
  }

  #link(uid: string, key: string): void {
    const dependents = this.#dependents.get(uid)
    if (dependents) dependents.add(key)
    else this.#dependents.set(uid, new Set([key]))
  }

  #unlink(uid: string, key: string): void {
    const dependents = this.#dependents.get(uid)
    dependents?.delete(key)
    if (dependents?.size === 0) this.#dependents.delete(uid)
  }
}
