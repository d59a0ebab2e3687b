import { Type } from '@sinclair/typebox'

// Request bodies of the console's API about people. The functions that take them validate the rest.

const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const Token = Text(200)
const Password = Type.String({ minLength: 10, maxLength: 128 })

export const SignIn = Type.Object({ email: Text(320), password: Text(128) })

/** A code of an authenticator app, or a backup code. */
export const SecondFactor = Type.Object({ code: Text(40) })

/** Of a sign-in at a provider: the query with which it sent the browser back, and the token of an invitation. */
export const FinishedSignIn = Type.Object({
  query: Text(8_000),
  invitation: Type.Optional(Token),
})

export const OwnPassword = Type.Object({ password: Text(128) })

export const PasswordAndCode = Type.Object({ password: Text(128), code: Text(40) })

export const LinkToken = Type.Object({ token: Token })

const newPerson = { name: Text(200), email: Text(320), password: Password }

export const SetUp = Type.Object({ token: Token, ...newPerson })

/** Without `newPerson`, the signed-in person joins. */
export const AcceptInvitation = Type.Object({
  token: Token,
  newPerson: Type.Optional(Type.Object(newPerson)),
})

export const ResetPassword = Type.Object({ token: Token, password: Password })

export const ChangePassword = Type.Object({ currentPassword: Text(128), newPassword: Password })
