/** Writes the objects that are made for an object of Flux, if they are missing or different. */
import { Stalled } from '../../../core/errors.ts'
import type { Context } from '../../../engine/reconciler.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { COMPILED, isMadeFor } from '../compile/made-objects.ts'
import type { Desired } from '../compile/made-objects.ts'
import type { MadePorts } from './ports.ts'

interface Writing {
  readonly ports: MadePorts
  readonly context: Context
  /** Whether an object that exists is written for this owner. Defaults to its ownerReference. */
  readonly isOurs?: (object: KubeObject, owner: KubeObject) => boolean
}

/** Writes the objects, and returns whether one was different; throws Stalled for a name that is taken, and then writes nothing. */
export async function writeMade(
  owner: KubeObject,
  desired: readonly Desired[],
  { ports, context, isOurs = isMadeFor }: Writing,
): Promise<boolean> {
  const present = desired.map(({ kind, object }) =>
    ports.find(kind, object.metadata.namespace ?? '', object.metadata.name),
  )
  const taken = present.findIndex((object) => object !== undefined && !isOurs(object, owner))
  if (taken >= 0) {
    const { kind, object } = desired[taken]!
    throw new Stalled(
      'NameTaken',
      `${kind.kind} ${object.metadata.name} of ${kind.group} is there already and was not made for this object; rename one of them.`,
    )
  }
  let isWritten = false
  for (const [at, one] of desired.entries()) {
    if (present[at]?.metadata.annotations?.[COMPILED] === one.object.metadata.annotations?.[COMPILED]) continue
    await ports.apply(one, context.signal)
    isWritten = true
    context.log.info({ kind: one.kind.kind, object: one.object.metadata.name }, 'made for an object of Flux')
  }
  return isWritten
}
