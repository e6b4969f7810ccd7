/** A button for an action: says what happens, shows the command, asks for the reason, and tells how it ended. */
import * as Dialog from '@radix-ui/react-dialog'
import { useMutation } from '@tanstack/react-query'
import { useId, useState } from 'react'
import type { ReactNode } from 'react'
import { useSession } from '../data/access.ts'
import { read, send } from '../data/api.ts'
import { hubNow } from '../data/live-state.ts'
import { queries } from '../data/queries.ts'
import { notify } from '../ui/notices.ts'
import { Button, Command, Refusal } from '../ui/parts.tsx'
import { carryOut, commandWith } from './action.ts'
import type { Action } from './action.ts'
import { ReasonField } from './reason-field.tsx'

export interface ActionButtonProps {
  readonly action: Action
  /** Defaults to the title of the action. */
  readonly title?: string
  /** What the person should see before: the plan of the action. */
  readonly plan?: ReactNode
  readonly onOpenChange?: (isOpen: boolean) => void
  /** Called once the hub has accepted the change. */
  readonly onDone?: () => void
}

export interface ActionChoiceProps {
  readonly title: string
  readonly question: string
  /** At least one; the first is chosen at first. */
  readonly actions: readonly Action[]
}

/** A button for one of several actions, chosen in its dialog. */
export function ActionChoice({ title, question, actions }: ActionChoiceProps) {
  const [chosen, setChosen] = useState(0)
  const group = useId()
  const action = actions[chosen] ?? actions[0]
  if (!action) return undefined
  const choice = (
    <fieldset className="action-choices">
      <legend>{question}</legend>
      {actions.map((one, index) => (
        <label key={one.title}>
          <input type="radio" name={group} checked={one === action} onChange={() => setChosen(index)} /> {one.title}
        </label>
      ))}
    </fieldset>
  )
  return <ActionButton title={title} action={action} plan={choice} />
}

export function ActionButton({ action, plan, title = action.title, onOpenChange, onDone }: ActionButtonProps) {
  const [isOpen, setOpen] = useState(false)
  const change = (next: boolean): void => {
    setOpen(next)
    onOpenChange?.(next)
  }
  return (
    <Dialog.Root open={isOpen} onOpenChange={change}>
      <Button look={action.look} right={action.right} onClick={() => change(true)}>
        {title}
      </Button>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog">
          <ActionForm key={action.title} {...{ title, action, plan, onDone }} close={() => change(false)} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

interface ActionFormProps extends Omit<ActionButtonProps, 'onOpenChange' | 'onDone'> {
  readonly title: string
  readonly onDone: (() => void) | undefined
  readonly close: () => void
}

function ActionForm({ action, plan, close, onDone, ...given }: ActionFormProps) {
  const session = useSession()
  const [reason, setReason] = useState('')
  const [typed, setTyped] = useState('')
  const typedId = useId()
  const title = given.title.replace('…', '')
  const act = useMutation({
    mutationFn: async () => {
      const { username = '', groups = [] } = session ?? {}
      return await carryOut(action, { username, groups, reason, nowMs: hubNow() }, { send, read })
    },
    // Also when the part of the page with the button is gone by then: an approved ring leaves the Inbox.
    onSuccess: ({ auditId }) => {
      notify(`${title}: done.`, auditId)
      close()
      onDone?.()
      return queries.invalidateQueries()
    },
  })
  const isReady =
    session !== undefined &&
    action.problem === undefined &&
    !act.isPending &&
    (action.asks !== 'requiredReason' || reason.trim() !== '') &&
    (action.typed === undefined || typed === action.typed)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady) act.mutate()
      }}
    >
      <Dialog.Title>{title}</Dialog.Title>
      <Dialog.Description>{action.effect}</Dialog.Description>
      {plan}
      {action.problem !== undefined && <p className="failure">{action.problem}</p>}
      <ReasonField asks={action.asks} value={reason} onChange={setReason} />
      {action.typed !== undefined && (
        <label htmlFor={typedId}>
          Type <strong>{action.typed}</strong> to confirm
          <input
            id={typedId}
            value={typed}
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) => setTyped(target.value)}
          />
        </label>
      )}
      {act.error && <Refusal error={act.error} />}
      <Command>{commandWith(action, reason)}</Command>
      <p className="actions">
        <button type="submit" className={`button ${action.look === 'danger' ? 'danger' : 'main'}`} disabled={!isReady}>
          {title}
        </button>
        <Button onClick={close}>Cancel</Button>
      </p>
    </form>
  )
}
