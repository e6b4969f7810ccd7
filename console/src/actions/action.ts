/** A change that a person can ask for: what it does, the command it stands for, and the request it sends. */
import { ApiFailure } from '../data/api-failure.ts'
import type { Answer, RequestOptions } from '../data/api.ts'
import type { Wanted } from '../data/access.ts'

/** Who asks, and what the person wrote. */
export interface Asking {
  readonly username: string
  readonly groups: readonly string[]
  readonly reason: string
  /** The hub's time. */
  readonly nowMs: number
}

export interface Change extends Pick<RequestOptions, 'method' | 'body' | 'contentType'> {
  readonly path: string
}

export interface Action {
  readonly title: string
  readonly look: 'plain' | 'main' | 'danger'
  /** What happens, in a sentence. */
  readonly effect: string
  /** The command that does the same, without a reason. */
  readonly command: string
  readonly right: Wanted
  /** Why the hub would refuse, where that is known before; the button is off then. */
  readonly problem?: string | undefined
  /** `none`: the action is done at once. */
  readonly asks: 'none' | 'reason' | 'requiredReason'
  /** The text to type before the action can be done. */
  readonly typed?: string
  change(asking: Asking): Change
  /** Makes the action anew from the object as it is now, after a conflict. */
  readonly again?: { readonly path: string; readonly of: (latest: never) => Action | undefined }
}

/** The requests of the console, as `data/api.ts` has them. */
export interface Requests {
  send(path: string, options: RequestOptions): Promise<Answer<unknown>>
  read(path: string): Promise<unknown>
}

const CONFLICTS = 5

/** Carries out an action. The hub writes objects often, so their changes are repeated after a conflict. */
export async function carryOut(action: Action, asking: Asking, requests: Requests): Promise<Answer<unknown>> {
  let now = action
  for (let left = CONFLICTS; ; left -= 1) {
    const { path, ...options } = now.change(asking)
    try {
      return await requests.send(path, { ...options, reason: asking.reason })
    } catch (caught) {
      const isConflict = caught instanceof ApiFailure && caught.reason === 'Conflict'
      if (!isConflict || !now.again || left === 0) throw caught
      const renewed = now.again.of((await requests.read(now.again.path)) as never)
      if (!renewed) throw caught
      now = renewed
    }
  }
}

/** The command with the reason, as a person would type it. */
export function commandWith({ command, asks }: Pick<Action, 'command' | 'asks'>, reason: string): string {
  const text = reason.trim()
  if (asks === 'none' || text === '') return command
  return `${command} --reason '${text.replaceAll("'", `'\\''`)}'`
}

/** A merge patch of an object. */
export function mergePatch(path: string, body: object): Change {
  return {
    path: `${path}?fieldManager=flotilla-console`,
    method: 'PATCH',
    contentType: 'application/merge-patch+json',
    body,
  }
}

/** A time as the API writes it. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}
