/** Writes the objects that are made for an object of Flux, if they are missing or different. */
import { isApiError, Stalled, Waiting } from '../../../core/errors.ts'
import { jsonClone, jsonEqual } from '../../../core/json.ts'
import type { Context } from '../../../engine/reconciler.ts'
import { keyOf } from '../../../kinds/meta.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { applyDefaults } from '../../../kinds/schema/apply-defaults.ts'
import { COMPILED, isMadeFor } from '../compile/made-objects.ts'
import type { Desired } from '../compile/made-objects.ts'
import type { MadePorts } from './ports.ts'

/** A Project or a quota can allow tomorrow what the API refuses now, and the dialect watches neither. */
const REFUSED_MS = 60_000

interface Writing {
  readonly ports: MadePorts
  readonly context: Context
  /** Whether an object that exists is written for this owner. Defaults to its ownerReference. */
  readonly isOurs?: (object: KubeObject, owner: KubeObject) => boolean
}

/**
 * Writes the objects, and returns whether one was different; throws Stalled for a name that is taken, and then writes
 * nothing.
 */
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
    const found = present[at]
    const { kind, object } = one
    if (found?.metadata.annotations?.[COMPILED] !== object.metadata.annotations?.[COMPILED]) {
      await sayRefusal(kind.kind, object, ports.apply(one, context.signal))
      context.log.info({ kind: kind.kind, object: object.metadata.name }, 'made for an object of Flux')
    } else if (found && isChanged(found, one, ports)) {
      const written = await sayRefusal(kind.kind, object, ports.replaceSpec(one, context.signal))
      ports.replaced.set(`${kind.kind} ${keyOf(object)}`, written.metadata.generation ?? 0)
      // An API server that stores another form of the same spec changes nothing.
      if (written.metadata.generation === found.metadata.generation) continue
      context.log.info({ kind: kind.kind, object: object.metadata.name }, 'a change of another client is undone')
    } else continue
    isWritten = true
  }
  return isWritten
}

/** Whether another client changed a compiled object. Nested objects of Flux stay editable, for example `suspend`. */
function isChanged(found: KubeObject, { kind, object }: Desired, { replaced }: MadePorts): boolean {
  if (kind.group !== Bundle.group) return false
  if (replaced.get(`${kind.kind} ${keyOf(object)}`) === found.metadata.generation) return false
  const wanted = jsonClone({ spec: object.spec })
  applyDefaults(wanted, kind.schema)
  return !jsonEqual((found as KubeObject & { spec?: unknown }).spec, wanted.spec)
}

/** Turns a refusal of the API into Waiting, so that the status of the object of Flux has the sentence. */
export async function sayRefusal<T>(kind: string, { metadata }: KubeObject, write: Promise<T>): Promise<T> {
  try {
    return await write
  } catch (caught) {
    if (!isApiError(caught, 'Forbidden', 'Invalid')) throw caught
    const message = `${kind} ${metadata.name} cannot be written: ${caught.message}`
    throw new Waiting('Refused', message.slice(0, 4096), REFUSED_MS)
  }
}
