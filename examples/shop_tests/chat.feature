Feature: A chat between two people

  @users:alice,bob
  Scenario: A message reaches the other one
    Given alice has opened "/"
    And bob has opened "/"
    When alice fills in:
      | Name     | alice           |
      | Password | made-up-alice-1 |
    And alice taps "role=button[name=Sign in]"
    And bob fills in:
      | Name     | bob           |
      | Password | made-up-bob-1 |
    And bob taps "role=button[name=Sign in]"
    When alice enters "Is the kettle on?" in "Message"
    Then bob sees "Is the kettle on?" in "role=log" within 3 s
    When bob enters "It is. Two cups?" in "Message"
    Then all see "It is. Two cups?" within 3 s
