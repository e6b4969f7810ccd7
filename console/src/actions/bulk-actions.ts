/** Actions on several clusters at once: each cluster gets the request of its own action, and only where it applies. */
import type { FleetRow } from '../../../src/hub/console/fleet-row.ts'
import { commandWith } from './action.ts'
import type { Action } from './action.ts'
import { acceptAction, releaseAction, stopAction } from './cluster-actions.ts'

/** One action for several clusters. */
export interface BulkAction {
  /** The action on the first of them: title, right, effect and what it asks. */
  readonly sample: Action
  readonly names: readonly string[]
  /** The command that does the same for all, with the reason as in `commandWith`. */
  command(reason: string): string
  /** The number to type before; undefined for a few. */
  readonly typed: string | undefined
  actionFor(name: string): Action
}

/** From this many clusters on, their number is to be typed. */
const MANY = 25

/** What to type before so many clusters are changed; undefined for a few. */
export function typedNumber(count: number): string | undefined {
  return count > MANY ? String(count) : undefined
}

/** A command that takes one cluster, `$name`, for each of several. */
export function commandForEach(names: readonly string[], one: Pick<Action, 'command' | 'asks'>): BulkAction['command'] {
  return (reason) => `for name in ${names.join(' ')}; do ${commandWith(one, reason)}; done`
}

/** The actions that apply to some of these clusters. */
export function bulkActions(rows: readonly FleetRow[]): readonly BulkAction[] {
  const members = rows.filter(({ isApart, badges }) => !isApart && !has(badges, 'Leaving'))
  const waiting = members.filter(({ waitsFor }) => waitsFor === 'acceptance')
  const accepted = members.filter(({ waitsFor }) => waitsFor !== 'acceptance')
  const stoppable = (badge: string, isOn: boolean) => accepted.filter(({ badges }) => has(badges, badge) === isOn)
  return [
    bulk(waiting, acceptAction, 'accept'),
    bulk(stoppable('Held', false), (name) => stopAction(name, 'hold'), 'hold'),
    bulk(stoppable('Held', true), (name) => releaseAction(name, 'hold'), 'release'),
    bulk(stoppable('Cordoned', false), (name) => stopAction(name, 'cordon'), 'cordon'),
    bulk(stoppable('Cordoned', true), (name) => releaseAction(name, 'cordon'), 'uncordon'),
  ].filter((action) => action !== undefined)
}

function has(badges: string, badge: string): boolean {
  return badges.split(',').includes(badge)
}

function bulk(rows: readonly FleetRow[], actionFor: (name: string) => Action, verb: string): BulkAction | undefined {
  const names = rows.map(({ name }) => name)
  const [first] = names
  if (first === undefined) return undefined
  return {
    sample: actionFor(first),
    names,
    command:
      verb === 'accept'
        ? commandForEach(names, { command: 'flotilla cluster accept $name', asks: actionFor(first).asks })
        : (reason) =>
            commandWith(
              { command: `flotilla cluster ${verb} ${names.join(' ')}`, asks: actionFor(first).asks },
              reason,
            ),
    typed: typedNumber(names.length),
    actionFor,
  }
}
