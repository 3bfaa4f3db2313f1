// The model's behaviour: what it says, when it calls tools, how limits end its answers, what it counts.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SAMPLE_CONVERSATION } from '../../../test/samples/conversation.ts'
import { processorMs } from '../../../test/samples/processor-time.ts'
import type { Format } from '../../core/endpoints.ts'
import { GatewayError } from '../../core/errors.ts'
import type { CanonicalEvent, Usage } from '../../core/events.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Conversation, Message, Tool, UserPart } from '../../core/request.ts'
import { answer } from './conversation.ts'
import { readScript } from './script.ts'
import { tokensOf } from './tokens.ts'

const WEATHER: Tool = {
  type: 'function',
  name: 'get_weather',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const CLOCK: Tool = { type: 'function', name: 'clock', schema: { type: 'object' } }
const SHELL: Tool = { type: 'custom', name: 'shell' }

function asking(text: string, more: Partial<Conversation> = {}): Conversation {
  return conversation([user(text)], more)
}

function conversation(
  messages: readonly Message[],
  more: Partial<Conversation> = {},
): Conversation {
  return { ...SAMPLE_CONVERSATION, model: 'sandbox-chat', stream: true, messages, ...more }
}

function user(text: string, ...parts: UserPart[]): Message {
  return { role: 'user', parts: [{ type: 'text', text }, ...parts] }
}

let calls = 0

function options(format: Format = 'messages'): Parameters<typeof answer>[2] {
  return { format, newCallId: () => `call_${++calls}` }
}

type Heard = {
  text: string
  reasoning: string
  calls: { name: string; input: string; custom: boolean; id: string }[]
  reason?: string
  stopSequence?: string | null
  usage?: Usage
  isComplete: boolean
  deltas: number
}

/** What a client receives of one choice; also asserts the rules of the event stream. */
function hear(request: Conversation, choice = 0): Heard {
  const events = answer(request, readScript(request, undefined), options())
  const heard: Heard = { text: '', reasoning: '', calls: [], isComplete: false, deltas: 0 }
  let block = -1
  let isOpen = false
  for (const event of events) {
    if (event.type === 'usage') heard.usage = event.usage
    if (event.type === 'response-end') heard.isComplete = true
    if (!('choice' in event) || event.choice !== choice) continue
    assert.equal(heard.reason, undefined, 'nothing follows the end of a choice')
    if (event.type === 'choice-end') {
      heard.reason = event.reason
      if (event.stopSequence !== undefined) heard.stopSequence = event.stopSequence
      continue
    }
    const isStart = event.type.endsWith('-start')
    assert.equal(isOpen, !isStart, `${event.type} in its place`)
    isOpen = !event.type.endsWith('-end')
    assert.equal(event.block, isStart ? ++block : block)
    if (event.type.endsWith('-delta')) heard.deltas++
    take(heard, event)
  }
  return heard
}

function take(heard: Heard, event: CanonicalEvent): void {
  const call = heard.calls.at(-1)
  if (event.type === 'text-delta') heard.text += event.text
  if (event.type === 'reasoning-delta') heard.reasoning += event.text
  if (event.type === 'tool-call-delta' && call !== undefined) call.input += event.text
  if (event.type === 'tool-call-start') {
    const { id, name, custom } = event
    heard.calls.push({ id, name, custom, input: '' })
  }
}

const names = (heard: Heard) => heard.calls.map(({ name }) => name)

describe('what it says', () => {
  const png = { type: 'base64', mediaType: 'image/png', data: 'AAAA' } as const
  for (const [what, request, expected] of [
    [
      'a question',
      asking('What is the capital of France?'),
      'You asked: “What is the capital of France?”',
    ],
    ['a statement', asking('I like trains.'), 'You wrote: “I like trains.”'],
    ['a dictation', asking('Please say "hello there".'), /^hello there$/],
    ['a dictation by other words', asking('Reply with exactly: pong'), /^pong$/],
    ['context in tags is ignored', asking('<env>Linux</env>\nWho am I?'), 'You asked: “Who am I?”'],
    ['nothing but tags', asking('<env>Linux</env>'), '“<env>Linux</env>”'],
    ['no message', conversation([]), /^I am the sandbox model/],
    [
      'an image',
      conversation([user('Look', { type: 'image', source: png })]),
      'an image (image/png, 3 bytes)',
    ],
    [
      'an image by URL',
      conversation([
        user('Look', {
          type: 'image',
          source: { type: 'url', url: 'https://example.com/cat.png' },
        }),
      ]),
      'https://example.com/cat.png',
    ],
    [
      'a file',
      conversation([
        user('Read', {
          type: 'file',
          name: 'a.pdf',
          source: { ...png, mediaType: 'application/pdf' },
        }),
      ]),
      'the file a.pdf (application/pdf, 3 bytes)',
    ],
    [
      'a text file',
      conversation([
        user('Read', { type: 'file', name: 'a.txt', source: { type: 'text', text: 'inside' } }),
      ]),
      '“inside”',
    ],
    [
      'a sound',
      conversation([user('Listen', { type: 'audio', encoding: 'wav', data: 'AAAA' })]),
      'a sound (wav, 3 bytes)',
    ],
    ['a long text is cut', asking('long '.repeat(1000)), /long …”/],
  ] as const) {
    test(what, () => {
      const { text, reason } = hear(request)
      if (typeof expected === 'string') assert.ok(text.includes(expected), text)
      else assert.match(text, expected)
      assert.equal(reason, 'stop')
    })
  }

  test('it comes word by word, and the same each time', () => {
    const request = asking('Tell me something')
    const heard = hear(request)
    assert.ok(heard.deltas >= heard.text.split(' ').length)
    assert.deepEqual(hear(request), heard)
  })
})

describe('a system prompt that asks for one answer', () => {
  for (const [system, expected] of [
    ['Answer only with the word PONG.', 'PONG'],
    ['You are a test.\nReply with exactly: all is well', 'all is well'],
    ['Reply with exactly: "All is well. Really."', 'All is well. Really.'],
    ['Always answer "no", whatever you are asked.', 'no'],
    ['Respond only with PONG', 'PONG'],
    ['Only reply with OK.', 'OK'],
    ['Say exactly the words all is well and nothing else', 'all is well'],
    ['Respond with OK and nothing else.', 'OK'],
    ['Reply with "all is well", and nothing else.', 'all is well'],
    // These ask for a form, or for something in some cases only.
    ['Answer only with JSON.', undefined],
    ['Answer only with valid JSON', undefined],
    ['If you do not know, answer only with "unknown".', undefined],
    ['Answer only with "yes" or "no".', undefined],
    ['Never answer with the word maybe.', undefined],
    ['Answer in the words of a pirate', undefined],
    ['Reply with a short summary: one line', undefined],
    ['Always answer in this format: one line', undefined],
    ['Answer only in the language of the user: German', undefined],
    [`${'Be brief. '.repeat(1_000)}Answer only with the word PONG`, undefined],
  ] as const) {
    test(system.slice(0, 60), () => {
      const { text, reason } = hear(
        conversation([{ role: 'system', parts: [{ type: 'text', text: system }] }, user('Hello')]),
      )
      if (expected === undefined) assert.match(text, /^You wrote/)
      else assert.equal(text, expected)
      assert.equal(reason, 'stop')
    })
  }

  test('every choice is that answer, and JSON is JSON', () => {
    const system: Message = {
      role: 'developer',
      parts: [{ type: 'text', text: 'Reply with exactly: {"ok":true}' }],
    }
    const request = conversation([system, user('Hello')], { choices: 2 })
    assert.deepEqual([hear(request, 0).text, hear(request, 1).text], ['{"ok":true}', '{"ok":true}'])
    assert.equal(hear({ ...request, outputFormat: { type: 'json' } }).text, '{"ok":true}')
  })
})

describe('length', () => {
  for (const [what, request, tokens, reason] of [
    ['the requested tokens', asking('[[sandbox tokens=200]]'), 200, 'stop'],
    ['no tokens', asking('[[sandbox tokens=0]]'), 0, 'stop'],
    ['tokens of many bytes', asking('éé😀é [[sandbox tokens=7]]'), 7, 'stop'],
    ['as many as the limit', asking('[[sandbox tokens=50]]', { outputTokensMax: 50 }), 50, 'stop'],
    ['more than the limit', asking('[[sandbox tokens=51]]', { outputTokensMax: 50 }), 50, 'limit'],
    ['a limit of nothing', asking('Hello', { outputTokensMax: 0 }), 0, 'limit'],
    [
      'more than the model can write',
      asking('[[sandbox tokens=9999]]', { outputTokensMax: 9999 }),
      4096,
      'limit',
    ],
    [
      'more than the window holds',
      asking(`${'x'.repeat(131_000 * 4)}[[sandbox tokens=300]]`),
      131_072 - 131_006,
      'context',
    ],
  ] as const) {
    test(what, () => {
      const heard = hear(request)
      assert.equal(tokensOf(heard.text), tokens)
      assert.equal(heard.usage?.outputTokens, tokens)
      assert.equal(heard.reason, reason)
    })
  }

  test('a prompt larger than the window is refused as providers do', () => {
    assert.throws(
      () => hear(asking('x'.repeat(131_072 * 4 + 1))),
      (error) =>
        error instanceof GatewayError &&
        error.status === 400 &&
        error.publicCode === 'context_length_exceeded',
    )
  })

  test('models with other names have no context window here', () => {
    const heard = hear(asking('x'.repeat(131_072 * 4 + 1), { model: 'gpt-5-mini' }))
    assert.equal(heard.reason, 'stop')
  })

  test('the first stop sequence ends the text before it', () => {
    const heard = hear(
      asking('Say one two three four', { sampling: { stop: ['', 'four', ' thr'] } }),
    )
    assert.equal(heard.text, 'one two')
    assert.deepEqual([heard.reason, heard.stopSequence], ['stop', ' thr'])
    assert.equal(heard.usage?.outputTokens, 2)
  })

  test('a stop sequence beyond the limit has no effect', () => {
    const heard = hear(
      asking('Say one two three', { sampling: { stop: ['three'] }, outputTokensMax: 1 }),
    )
    assert.deepEqual([heard.text, heard.reason, heard.stopSequence], ['one ', 'limit', undefined])
  })

  test('several choices grow side by side, differ, and are all counted', () => {
    const request = asking('Hello [[sandbox tokens=30]]', { choices: 3 })
    const heard = [0, 1, 2].map((choice) => hear(request, choice))
    assert.equal(new Set(heard.map(({ text }) => text)).size, 3)
    assert.equal(heard[0]?.usage?.outputTokens, 90)
    const order = [...answer(request, readScript(request, undefined), options('chat'))]
      .flatMap((event) => (event.type === 'text-delta' ? event.choice : []))
      .slice(0, 6)
    assert.deepEqual(order, [0, 1, 2, 0, 1, 2])
  })

  test('an answer that breaks off has exactly the given tokens and no end', () => {
    for (const word of ['cut', 'stall']) {
      const heard = hear(asking(`Hello there, how are you? [[sandbox ${word}=10]]`))
      assert.equal(tokensOf(heard.text), 10)
      assert.deepEqual([heard.reason, heard.isComplete], [undefined, false])
      const short = hear(asking(`Say hi [[sandbox ${word}=10]]`))
      assert.deepEqual([short.text, short.reason, short.isComplete], ['hi', undefined, false])
    }
  })

  test('usage=none reports nothing', () => {
    assert.equal(hear(asking('Hi [[sandbox usage=none]]')).usage, undefined)
  })

  test('each piece carries as many log probabilities as requested', () => {
    const request = asking('Say hello there', { sampling: { logprobs: 2 } })
    const told = [...answer(request, {}, options('chat'))].flatMap((event) =>
      event.type === 'text-delta' ? (event.logprobs ?? []) : [],
    )
    assert.deepEqual(
      told.map(({ token }) => token),
      ['hello', ' there'],
    )
    assert.deepEqual(
      told.map(({ top }) => top.length),
      [2, 2],
    )
  })
})

describe('tools', () => {
  const tools = [WEATHER, CLOCK, SHELL]
  for (const [text, called, more] of [
    ['Use the tool get_weather for Paris', ['get_weather'], {}],
    ['Please call clock.', ['clock'], {}],
    ['Call get_weather and clock!', ['get_weather', 'clock'], {}],
    ['What is the weather in Paris?', ['get_weather'], {}],
    ['Use a tool', ['get_weather'], {}],
    ['Use all the tools', ['get_weather', 'clock', 'shell'], {}],
    ['Do not use get_weather', [], {}],
    ['The clock is broken', [], {}],
    ['Run clockwork', [], {}],
    ['Hello', [], {}],
    ['You may use tools', [], {}],
    ['<reminder>Use the tool clock</reminder> Hello', [], {}],
    ['[[sandbox tool=clock]]', ['clock'], {}],
    ['[[sandbox tool=clock,get_weather,clock]]', ['clock', 'get_weather', 'clock'], {}],
    ['Call get_weather and clock', ['get_weather'], { parallelToolCalls: false }],
    ['Call clock', [], { toolChoice: { type: 'none' } }],
    ['Hello', ['get_weather'], { toolChoice: { type: 'required' } }],
    ['Call clock', ['clock'], { toolChoice: { type: 'required' } }],
    ['Hello', ['clock'], { toolChoice: { type: 'tool', name: 'clock' } }],
    [
      'Call get_weather and clock',
      ['clock'],
      { toolChoice: { type: 'allowed', names: ['clock'], required: false } },
    ],
    ['Hello', ['clock'], { toolChoice: { type: 'allowed', names: ['clock'], required: true } }],
    ['Hello', [], { toolChoice: { type: 'allowed', names: ['clock'], required: false } }],
  ] as [string, string[], Partial<Conversation>][]) {
    test(`${text} ${JSON.stringify(more)}`, () => {
      const heard = hear(asking(text, { tools, ...more }))
      assert.deepEqual(names(heard), called)
      assert.equal(heard.reason, called.length > 0 ? 'tool-call' : 'stop')
      assert.equal(new Set(heard.calls.map(({ id }) => id)).size, called.length)
    })
  }

  test('each choice has calls of its own', () => {
    const request = asking('Call clock', { tools, choices: 2 })
    const ids = [...answer(request, {}, options('chat'))].flatMap((event) =>
      event.type === 'tool-call-start' ? event.id : [],
    )
    assert.equal(new Set(ids).size, 2)
  })

  test('a tool whose schema cannot be filled is refused, unless its arguments are given', () => {
    const schema: JsonObject = {
      type: 'object',
      properties: { code: { type: 'string', pattern: '^(?!a)\\w+$' } },
      required: ['code'],
    }
    const request = (text: string) =>
      asking(text, { tools: [{ type: 'function', name: 'buy', schema }] })
    assert.throws(
      () => hear(request('Call buy')),
      (error) =>
        error instanceof GatewayError &&
        error.details.param === 'tools' &&
        /"buy" \(steer it with args=.* at code, no text for the pattern/.test(error.message),
    )
    const { calls } = hear(request('[[sandbox tool=buy args={"code":"b"}]]'))
    assert.equal(calls[0]?.input, '{"code":"b"}')
  })

  test('arguments come from the message or from the steering', () => {
    const input = (text: string) => hear(asking(text, { tools: [WEATHER] })).calls[0]?.input
    assert.equal(input('Use get_weather for Paris'), '{"city":"Paris"}')
    assert.equal(
      input('[[sandbox tool=get_weather args={"city":"Oslo","days":[1]}]]'),
      '{"city":"Oslo","days":[1]}',
    )
  })

  test('a custom tool gets plain text', () => {
    const [call] = hear(asking('Run shell with "ls -l"', { tools: [SHELL] })).calls
    assert.deepEqual([call?.custom, call?.input], [true, 'ls -l'])
  })

  test('the answer reports tool results, and the loop ends', () => {
    const asked = user('Use get_weather for Paris [[sandbox tool=get_weather]]')
    const call = hear(conversation([asked], { tools })).calls[0] ?? assert.fail()
    const messages: Message[] = [
      asked,
      { role: 'assistant', parts: [{ type: 'tool-call', ...call }] },
      { role: 'tool', callId: call.id, parts: [{ type: 'text', text: '21 °C' }] },
    ]
    const heard = hear(conversation(messages, { tools }))
    assert.deepEqual([names(heard), heard.reason], [[], 'stop'])
    assert.ok(heard.text.includes('The tool get_weather answered: “21 °C”'))
    const reminded = hear(conversation([...messages, user('Use the tool clock')], { tools }))
    assert.deepEqual(names(reminded), [])
    const said: Message = { role: 'assistant', parts: [{ type: 'text', text: heard.text }] }
    const next = hear(conversation([...messages, said, user('Now call clock')], { tools }))
    assert.deepEqual(names(next), ['clock'])
  })

  test('forced calls reach every tool in turn, so that an agent gets to its final one', () => {
    const messages: Message[] = [user('What is the weather in Paris?')]
    const called = tools.map(() => {
      const heard = hear(conversation(messages, { tools, toolChoice: { type: 'required' } }))
      const call = heard.calls[0] ?? assert.fail()
      messages.push(
        { role: 'assistant', parts: [{ type: 'tool-call', ...call }] },
        { role: 'tool', callId: call.id, parts: [{ type: 'text', text: 'done' }] },
      )
      return call.name
    })
    assert.deepEqual(called, ['get_weather', 'clock', 'shell'])
  })

  test('a failed tool is reported as failed', () => {
    const heard = hear(
      conversation([
        user('Use clock'),
        {
          role: 'assistant',
          parts: [{ type: 'tool-call', id: 'x', name: 'clock', input: '{}', custom: false }],
        },
        { role: 'tool', callId: 'x', parts: [{ type: 'text', text: 'no battery' }], isError: true },
      ]),
    )
    assert.ok(heard.text.includes('The tool clock failed: “no battery”'))
  })

  test('the token limit cuts a tool call', () => {
    const heard = hear(
      asking('[[sandbox tool=get_weather args={"city":"somewhere"}]]', {
        tools,
        outputTokensMax: 5,
      }),
    )
    assert.deepEqual([heard.calls[0]?.input, heard.reason], ['{"city":', 'limit'])
    assert.equal(heard.usage?.outputTokens, 5)
  })

  for (const [what, request] of [
    ['the steering', asking('[[sandbox tool=nothing]]', { tools })],
    ['the tool choice', asking('Hello', { tools, toolChoice: { type: 'tool', name: 'nothing' } })],
  ] as const) {
    test(`${what} naming an unknown tool is refused`, () => {
      assert.throws(() => hear(request), /names the tool "nothing"/)
    })
  }
})

describe('structured output', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'integer' } },
    required: ['name', 'age'],
  }

  test('a schema is filled, whatever length the steering asks for', () => {
    const request = asking('My friend Alice is 30 [[sandbox tokens=500]]', {
      outputFormat: { type: 'json-schema', name: 'person', schema },
    })
    assert.deepEqual(JSON.parse(hear(request).text), { name: 'Alice', age: 30 })
  })

  test('JSON without a schema is an object', () => {
    const { text } = hear(asking('Say hi', { outputFormat: { type: 'json' } }))
    assert.deepEqual(JSON.parse(text), { answer: 'hi' })
  })
})

describe('the reasoner', () => {
  const model = 'sandbox-reasoner@messages'
  const reasoned = (more: Partial<Conversation>) =>
    hear(asking('Hello', { model, ...more })).reasoning

  test('it reasons before it speaks, and reasoning is counted as output', () => {
    const heard = hear(asking('Hello', { model }))
    assert.notEqual(heard.reasoning, '')
    assert.equal(heard.usage?.reasoningTokens, tokensOf(heard.reasoning))
    assert.equal(heard.usage.outputTokens, tokensOf(heard.reasoning) + tokensOf(heard.text))
  })

  test('the effort decides how much it reasons', () => {
    assert.equal(reasoned({ reasoning: { effort: 'none' } }), '')
    const low = reasoned({ reasoning: { effort: 'low' } })
    assert.ok(reasoned({ reasoning: { effort: 'high' } }).length > low.length)
    assert.equal(tokensOf(reasoned({ reasoning: { effort: 'high', tokensMax: 3 } })), 3)
  })

  test('hidden reasoning is counted and signed, but not shown', () => {
    const request = asking('Hello', { model, reasoning: { display: 'omitted' } })
    assert.equal(hear(request).reasoning, '')
    assert.ok((hear(request).usage?.reasoningTokens ?? 0) > 0)
  })

  test('the requested tokens include the reasoning', () => {
    for (const tokens of [0, 1, 9, 100]) {
      const heard = hear(asking(`Hi [[sandbox tokens=${tokens}]]`, { model }))
      assert.equal(tokensOf(heard.reasoning) + tokensOf(heard.text), tokens)
      assert.equal(heard.usage?.outputTokens, tokens)
    }
  })

  const events = [...answer(asking('Hello', { model }), {}, options())]
  const opaque = events.flatMap((event) =>
    event.type === 'reasoning-end' ? [event.opaque] : [],
  )[0]
  const text = hear(asking('Hello', { model })).reasoning
  const giveBack = (part: { text: string; value: string }) =>
    hear(
      conversation(
        [
          user('Hello'),
          {
            role: 'assistant',
            parts: [
              {
                type: 'reasoning',
                text: part.text,
                opaque: { ...(opaque ?? assert.fail()), value: part.value },
              },
              { type: 'text', text: 'Hi' },
            ],
          },
          user('And now?'),
        ],
        { model },
      ),
    )

  test('it accepts its own reasoning back, shown or hidden', () => {
    const value = opaque?.value ?? ''
    assert.equal(giveBack({ text, value }).reason, 'stop')
    assert.equal(giveBack({ text: '', value }).reason, 'stop')
  })

  test('altered reasoning is refused, and so is an altered signature', () => {
    const value = opaque?.value ?? ''
    const middle = Math.floor(value.length / 2)
    const altered =
      value.slice(0, middle) + (value[middle] === 'A' ? 'B' : 'A') + value.slice(middle + 1)
    for (const part of [
      { text: `${text}!`, value },
      { text, value: altered },
      { text, value: `${value}x` },
      { text, value: 'EqQBCkYIARgCKkBnot-ours' },
    ]) {
      assert.throws(() => giveBack(part), /invalid signature/)
    }
  })
})

describe('what is more than an answer may be is refused before any of it is made', () => {
  const LONG = '[[sandbox tokens=4096]]'
  const stops = (count: number, length: number) =>
    Array.from({ length: count }, (_, number) => String(number).padEnd(length, 'x'))
  for (const [what, request, why] of [
    ['choices', asking('Hello', { choices: 129 }), /n must be at most 128/],
    ['long choices', asking(LONG, { choices: 128 }), /128 answers of this length are more/],
    [
      'long choices with probabilities',
      asking(LONG, { choices: 2, sampling: { logprobs: 20 } }),
      /2 answers of this length with 20 log probabilities are more/,
    ],
    ['stop sequences', asking(LONG, { sampling: { stop: stops(100_000, 5) } }), /are more/],
    ['long stop sequences', asking(LONG, { sampling: { stop: stops(10, 9_000) } }), /are more/],
  ] as const) {
    test(what, () => {
      const startedMs = processorMs()
      assert.throws(() => answer(request, readScript(request, undefined), options()), why)
      assert.ok(processorMs() - startedMs < 1_000)
    })
  }

  test('one long choice with probabilities, and many short ones, are not', () => {
    for (const request of [
      asking(LONG, { sampling: { logprobs: 20 } }),
      asking('Hello', { choices: 128, sampling: { logprobs: 10, stop: ['never'] } }),
      asking(LONG, { choices: 20 }),
    ]) {
      let events = 0
      for (const { type } of answer(request, readScript(request, undefined), options())) {
        if (type.endsWith('-delta')) events++
      }
      assert.ok(events > 3_000 && events < 80 * 1024)
    }
  })

  test('thousands of tools, in a message with thousands of words, are looked through once', () => {
    const named = (name: string): Tool => ({ type: 'function', name, schema: { type: 'object' } })
    const tools = Array.from({ length: 20_000 }, (_, number) => named(`get_${number}_a`))
    const words = 'use get_5_a '.repeat(1_600)
    const startedMs = processorMs()
    const heard = hear(asking(words, { tools, model: 'any name' }))
    assert.deepEqual(names(heard), ['get_5_a'])
    assert.ok(processorMs() - startedMs < 2_000)
  })
})
