/** A message of the hub in which times are those of a clock, with their distance, as in the CLI. */
import { Fragment } from 'react'
import { Moment } from './time.tsx'

const TIME = /(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)/

export function Words({ text }: { readonly text: string }) {
  return (
    <>
      {text.split(TIME).map((part, index) => (
        <Fragment key={`${index} ${part}`}>{index % 2 === 1 ? <Moment at={part} /> : part}</Fragment>
      ))}
    </>
  )
}
